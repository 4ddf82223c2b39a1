import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '@troupe/kernel';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { createKeptSigns } from './kept-signs.ts';
import { dropVectors, keepVectors, nearestAmong } from './store.ts';
import { bytesOf, nearness } from './vector.ts';

/** More numbers than signs are kept of. */
const DIMENSION = 600;
let state = 3;
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
const vector = (): Float32Array => Float32Array.from({ length: DIMENSION }, random);
const like = (one: Float32Array): Float32Array => one.map((value) => value + 0.7 * random());

let database: TestDatabase;
const userId = 'ada';
const collectionId = newId();
let number = 0;
const vectors = Array.from({ length: 400 }, vector);
before(async () => {
  database = await testDatabase();
  const { system } = database.db;
  await testUser(database.db, userId);
  const { rows } = await sql<{
    number: number;
  }>`insert into knowledge_collections (id, user_id, name, created_at, updated_at)
    values (${collectionId}, ${userId}, 'c', now(), now()) returning number`.execute(system);
  number = rows[0]!.number;
  await sql`insert into knowledge_documents (id, user_id, collection_id, name, source, state, passages, created_at, updated_at)
    values ('d', ${userId}, ${collectionId}, 'd', 'text', 'ready', 400, now(), now())`.execute(system);
  await sql`insert into knowledge_passages (collection, number, user_id, document_id, place, heading, text)
    select ${number}::integer, n, ${userId}, 'd', '', '', 'x' from generate_series(0, 399) n`.execute(system);
});
after(() => database.drop());

const keep = (from: number, to: number, generation: number, of = vectors) =>
  database.db.asUser(userId, (tx) =>
    keepVectors(
      tx,
      { userId, number, generation },
      of.slice(from, to).map((one, n) => ({ number: from + n, vector: one })),
    ),
  );

test('the nearest are found; so is what came since, and nothing of what is gone', async () => {
  let now = 0;
  const signs = createKeptSigns({ now: () => now });
  const meant = { number, generation: 1, passages: 400, next: 400 };
  const own = database.db.user(userId);
  const nearest = async (question: Float32Array, given = meant): Promise<number | undefined> => {
    const likely = await signs.likely(own, given, question, 20);
    const found = await nearestAmong(own, given, question, { likely, most: 5 });
    return found.toSorted((a, b) => nearness(question, b.vector) - nearness(question, a.vector))[0]?.number;
  };
  assert.equal(await nearest(vectors[0]!), undefined, 'there are none yet');
  await keep(0, 200, 1);
  for (const n of [0, 7, 199]) assert.equal(await nearest(like(vectors[n]!)), n);
  assert.notEqual(await nearest(like(vectors[300]!)), 300);
  await keep(200, 350, 1);
  for (const n of [3, 200, 300, 349]) assert.equal(await nearest(like(vectors[n]!)), n);
  // Several at once, while more comes.
  await keep(350, 400, 1);
  const at = [1, 60, 360, 399];
  assert.deepEqual(await Promise.all(at.map((n) => nearest(like(vectors[n]!)))), at);
  // Somebody else's rows are nobody's.
  const others = createKeptSigns();
  assert.deepEqual(await others.likely(database.db.user('ben'), meant, vectors[0]!, 20), []);
  // Another generation, from the beginning.
  const anew = vectors.map(vector);
  await keep(0, 100, 2, anew);
  const second = { ...meant, generation: 2 };
  assert.equal(await nearest(like(anew[42]!), second), 42);
  assert.notEqual(await nearest(like(vectors[300]!), second), 300);
  // What came in another order is seen within a minute.
  await keep(300, 400, 2, anew);
  assert.equal(await nearest(like(anew[350]!), second), 350);
  await keep(100, 300, 2, anew);
  assert.notEqual(await nearest(like(anew[150]!), second), 150);
  now = 61_000;
  assert.equal(await nearest(like(anew[150]!), second), 150);
  // A collection that has lost passages is read anew.
  await sql`delete from knowledge_passages where collection = ${number} and number < 200`.execute(database.db.system);
  const fewer = { ...second, passages: 200 };
  const likely = await signs.likely(own, fewer, anew[150]!, 400);
  assert.deepEqual(
    likely,
    Array.from({ length: 200 }, (_, n) => 200 + n),
  );
  await dropVectors(own, number);
  now = 200_000;
  assert.deepEqual(await signs.likely(own, fewer, anew[250]!, 20), []);
});

test('those that were searched last are kept, within a bound', async () => {
  const tiny = createKeptSigns({ most: 1 });
  const own = database.db.user(userId);
  await keep(200, 400, 2);
  for (let round = 0; round < 3; round += 1) {
    const found = await tiny.likely(own, { number, generation: 2, passages: 200, next: 400 }, vectors[333]!, 5);
    assert.ok(found.includes(333));
    assert.deepEqual(await tiny.likely(own, { number: -1, generation: 0, passages: 0, next: 0 }, vectors[1]!, 5), []);
  }
  assert.equal(bytesOf(vectors[0]!).length, DIMENSION);
});
