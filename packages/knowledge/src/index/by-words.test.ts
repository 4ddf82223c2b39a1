import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { newId } from '@troupe/kernel';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { termsOf } from '../words/terms.ts';
import { byWords } from './by-words.ts';
import { createKeptLists } from './kept.ts';
import { addPassages, readEntries, readTerms, statsOf } from './store.ts';

/** Two collections of passages over three blocks, of words as rare as those of a language. */

const COUNT = 9000;
const userId = 'ada';
const ids = [newId(), newId()];
let database: TestDatabase;
let state = 9;
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
const word = (): string => `w${Math.floor(3000 ** random())}x`;
const words = (count: number): string => Array.from({ length: count }, word).join(' ');

async function fill(id: string, count: number): Promise<void> {
  const { db } = database;
  const { rows } = await sql<{
    number: number;
  }>`insert into knowledge_collections (id, user_id, name, created_at, updated_at)
    values (${id}, ${userId}, ${id}, now(), now()) returning number`.execute(db.system);
  await sql`insert into knowledge_documents (id, user_id, collection_id, name, source, state, passages, created_at, updated_at)
    values (${id}, ${userId}, ${id}, 'd', 'text', 'ready', ${count}, now(), now())`.execute(db.system);
  const passages = Array.from({ length: count }, () => {
    const text = words(10 + Math.floor(60 * random()));
    const counts = new Map<string, number>();
    const terms = termsOf(text);
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    return { place: '', heading: '', text, terms: [...counts], words: terms.length };
  });
  const place = { userId, collection: rows[0]!.number, documentId: id, first: 0 };
  await db.asUser(userId, (tx) => addPassages(tx, place, passages));
  const sum = passages.reduce((all, one) => all + one.words, 0);
  await sql`update knowledge_collections set passages = ${count}, next = ${count}, words = ${sum} where id = ${id}`.execute(
    db.system,
  );
}

before(async () => {
  database = await testDatabase();
  await testUser(database.db, userId);
  await fill(ids[0]!, COUNT);
  await fill(ids[1]!, 500);
});
after(() => database.drop());

test('passages that are looked up have what their lists say', async () => {
  const own = database.db.user(userId);
  const [collection] = await statsOf(own, ids.slice(0, 1));
  const terms = ['w1x', 'w2x', 'w40x', 'w2000x', 'nowhere'];
  const slots = [0, 1, 2, 77, 78, 807];
  const places = [0, 2].map((block) => ({ collection: collection!.number, block, slots }));
  const found = await readEntries(own, places, terms);
  const lists = await readTerms(
    own,
    terms.map((term) => [collection!.number, term]),
  );
  let entries = 0;
  for (const { block, term, postings } of lists.filter((list) => list.block !== 1)) {
    const had = found.find((one) => one.block === block && one.term === term)!;
    for (const [at, slot] of slots.entries()) {
      let wanted = [0, 0];
      for (let n = 0; n < postings.length; n += 4)
        if (postings.readUInt16BE(n) === slot) wanted = [postings[n + 2]!, postings[n + 3]!];
      assert.deepEqual([...had.entries.subarray(2 * at, 2 * at + 2)], wanted, `${term} ${block} ${slot}`);
      if (wanted[0]! > 0) entries += 1;
    }
  }
  assert.ok(entries > 12, `${entries}`);
  assert.deepEqual(await readEntries(database.db.user('ben'), places, terms), [], 'nobody else’s');
});

test('the best are the same whether common words are read or looked up', async () => {
  const own = database.db.user(userId);
  const all = { first: 1e9, most: 1e9, lookedUp: 400 };
  let settled = 0;
  for (let n = 0; n < 60; n += 1) {
    const asked = [...new Set(termsOf(words(2 + (n % 6))))];
    const collections = await statsOf(own, ids, asked);
    const wanted = { tx: own, collections, most: 30 };
    const read = await byWords(wanted, createKeptLists(), all);
    const looked = await byWords(wanted, createKeptLists(), { first: 300, most: 1e9, lookedUp: 1e9 });
    assert.deepEqual(
      looked.map(({ score }) => score.toFixed(9)),
      read.map(({ score }) => score.toFixed(9)),
      asked.join(' '),
    );
    // Within bounds that leave words out for most: nearly the same.
    const few = await byWords(wanted, createKeptLists(), { first: 300, most: 2000, lookedUp: 400 });
    const best = new Set(read.slice(0, 10).map(({ collection, number }) => `${collection}.${number}`));
    const hit = few.slice(0, 10).filter(({ collection, number }) => best.has(`${collection}.${number}`)).length;
    settled += hit / Math.max(1, best.size);
  }
  assert.ok(settled > 50, `${settled} of 60`);
});
