import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testDatabase } from '@troupe/testing/database/server';
import { tendMeanings, type Embed } from './meaning.ts';
import { createPgStore } from './store-pg.ts';
import { createSqliteStore } from './store-sqlite.ts';
import type { AgentStore } from './store.ts';
import { makeAgentRow } from '../testing.ts';

/** Memories by words and by meaning, in both stores alike. */

const SAME: Record<string, string> = { automobile: 'car', vehicle: 'car', acquired: 'buy', bought: 'buy' };
const vectorOf = (text: string, dimension: number): Float32Array => {
  const numbers = new Float32Array(dimension);
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    let hash = 7;
    for (const letter of SAME[word] ?? word) hash = (hash * 31 + letter.charCodeAt(0)) % 1_000_003;
    numbers[hash % dimension]! += 1;
    numbers[(hash * 7) % dimension]! -= 0.5;
  }
  const length = Math.hypot(...numbers);
  return numbers.map((one, index) => one / length + 0.0001 * (index + 1));
};

const bounds = { maxEntries: 1000, ttlDays: 10 };
const MODEL = 'm';
const named = (n: number): string => `x${String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26))}z`;

async function findsByMeaning(store: AgentStore): Promise<void> {
  let dimension = 64;
  let calls = 0;
  const embed: Embed = async (_, texts) => {
    calls += 1;
    return texts.map((text) => vectorOf(text, dimension));
  };
  const tend = (model: string | null = MODEL, turns = 16) =>
    tendMeanings({ store, embed }, { scope: 'agent', model, calls: turns, signal: new AbortController().signal });
  const found = async (query: string, limit = 5): Promise<string[]> => {
    const near = { model: MODEL, vector: vectorOf(query, dimension) };
    return (await store.recall({ scope: 'agent', query, limit, near })).map(({ content }) => content);
  };
  const car = await store.remember({ scope: 'agent', content: 'She acquired an automobile.' }, bounds);
  for (let n = 0; n < 40; n += 1) await store.remember({ scope: 'agent', content: `Loaf ${named(n)} of rye` }, bounds);
  assert.deepEqual(await found('bought a vehicle'), [], 'without numbers words alone count');
  // Bounded: one call has 32, and the rest waits for the next turn.
  assert.equal(await tend(MODEL, 1), true);
  assert.equal(calls, 1);
  assert.equal(await tend(), false);
  assert.deepEqual([calls, (await store.unmeant('agent', { model: MODEL, dimension, most: 99 })).length], [2, 0]);
  assert.equal((await found('bought a vehicle'))[0], 'She acquired an automobile.');
  assert.equal((await found(`loaf ${named(7)}`))[0], `Loaf ${named(7)} of rye`, 'words count as before');
  assert.equal((await store.recall({ scope: 'agent', query: 'bought a vehicle', limit: 5 })).length, 0);
  // A text that changes has other numbers, and none until then.
  await store.editMemory(car.id, 'She sold a boat.', bounds);
  assert.ok(!(await found('bought a vehicle')).includes('She sold a boat.'));
  await tend();
  assert.equal((await found('boat she sold'))[0], 'She sold a boat.');
  await store.editMemory(car.id, 'She acquired an automobile.', bounds);
  await tend();
  // Another dimension: never compared, and indexed anew.
  dimension = 96;
  assert.deepEqual(await found('bought a vehicle'), []);
  assert.match((await store.meaning('agent', MODEL)).note ?? '', /96 numbers of a text now, and made 64/);
  await tend();
  assert.equal((await found('bought a vehicle'))[0], 'She acquired an automobile.');
  assert.equal((await store.meaning('agent', MODEL)).note, null);
  await store.forget(car.id);
  assert.ok(!(await found('bought a vehicle')).some((one) => one.includes('automobile')));
  // One that keeps changing is given up.
  for (const next of [64, 96, 64, 96]) {
    dimension = next;
    await found('loaf');
    await tend();
  }
  const before = calls;
  assert.match((await store.meaning('agent', MODEL)).note ?? '', /keeps changing/);
  await store.remember({ scope: 'agent', content: 'Something new' }, bounds);
  await tend();
  assert.equal(calls, before);
  await tend(null);
  assert.deepEqual(await store.meaning('agent', MODEL), { dimension: null, changes: 0, note: null });
  await assert.rejects(
    tendMeanings(
      { store, embed: () => Promise.reject(new Error('boom')) },
      { scope: 'agent', model: MODEL, calls: 1, signal: new AbortController().signal },
    ),
  );
  assert.match((await store.meaning('agent', MODEL)).note ?? '', /asked again later/);
}

describe('memories by meaning', () => {
  test('in PostgreSQL', async (t) => {
    const { db, drop } = await testDatabase();
    t.after(drop);
    await makeAgentRow(db, 'u', 'agent');
    await findsByMeaning(createPgStore({ db, userId: 'u', agentId: 'agent' }));
  });

  test('in SQLite', () => findsByMeaning(createSqliteStore({ file: ':memory:', agentId: 'agent' })));
});

test('what SQLite has read of its index is read anew after each change, also by another connection, and as time goes by', async (t) => {
  const { mkdtemp, rm } = await import('node:fs/promises');
  const folder = await mkdtemp('/tmp/agent-store-');
  t.after(() => rm(folder, { recursive: true }));
  let now = new Date('2026-01-01T00:00:00Z');
  const given = { file: `${folder}/agent.db`, agentId: 'a', now: () => now };
  const [one, two] = [createSqliteStore(given), createSqliteStore(given)];
  t.after(() => [one, two].map((store) => store.close()));
  const found = async (query: string): Promise<string[]> =>
    (await one.recall({ scope: 'agent', query, limit: 5 })).map(({ content }) => content).toSorted();
  await one.remember({ scope: 'agent', content: 'a red boat' }, { maxEntries: 99, ttlDays: 2 });
  assert.deepEqual(await found('boat'), ['a red boat']);
  const blue = await two.remember({ scope: 'agent', content: 'a blue boat' }, { maxEntries: 99, ttlDays: 9 });
  assert.deepEqual(await found('boat'), ['a blue boat', 'a red boat']);
  now = new Date('2026-01-04T00:00:00Z');
  assert.deepEqual(await found('boat'), ['a blue boat'], 'one has ended');
  now = new Date('2026-01-01T12:00:00Z');
  assert.deepEqual(await found('boat'), ['a blue boat', 'a red boat'], 'by the clock that it is asked by');
  await two.editMemory(blue.id, 'a blue car', { maxEntries: 99, ttlDays: 9 });
  assert.deepEqual([await found('boat'), await found('car')], [['a red boat'], ['a blue car']]);
  await two.reset();
  assert.deepEqual(await found('boat'), []);
});

test('signs that SQLite keeps in the process are those of the file: after another connection, a reset and another release', async (t) => {
  const { mkdtemp, rm } = await import('node:fs/promises');
  const { DatabaseSync } = await import('node:sqlite');
  const folder = await mkdtemp('/tmp/agent-store-');
  t.after(() => rm(folder, { recursive: true }));
  const given = { file: `${folder}/agent.db`, agentId: 'a' };
  let [one, two] = [createSqliteStore(given), createSqliteStore(given)];
  t.after(() => [one, two].map((store) => store.close()));
  const dimension = 600;
  const embed: Embed = async (_, texts) => texts.map((text) => vectorOf(text, dimension));
  const tend = async (store: AgentStore): Promise<void> => {
    const turn = { scope: 'agent', model: MODEL, calls: 99, signal: new AbortController().signal } as const;
    while (await tendMeanings({ store, embed }, turn));
  };
  const found = async (query: string, store: AgentStore = one): Promise<string | undefined> => {
    const near = { model: MODEL, vector: vectorOf(query, dimension) };
    return (await store.recall({ scope: 'agent', query, limit: 1, near }))[0]?.content;
  };
  const car = await one.remember({ scope: 'agent', content: 'She acquired an automobile.' }, bounds);
  await tend(one);
  assert.equal(await found('bought a vehicle'), 'She acquired an automobile.');
  // Hundreds that are none of it, written by another connection, and one that is.
  for (let n = 0; n < 300; n += 1) await two.remember({ scope: 'agent', content: `Loaf ${named(n)} of rye` }, bounds);
  await two.editMemory(car.id, 'He painted a fence.', bounds);
  await two.remember({ scope: 'agent', content: 'They bought an automobile.' }, bounds);
  await tend(two);
  assert.equal(await found('acquired a vehicle'), 'They bought an automobile.');
  assert.equal(await found('fence he painted'), 'He painted a fence.');
  // A release that gives no numbers wrote to the file.
  one.close();
  two.close();
  const file = new DatabaseSync(given.file);
  file.exec('update memory_vectors set n = null where rowid % 2 = 0');
  file.close();
  [one, two] = [createSqliteStore(given), createSqliteStore(given)];
  assert.equal(await found('acquired a vehicle'), 'They bought an automobile.');
  assert.equal(await found('fence he painted'), 'He painted a fence.');
  await two.reset();
  assert.equal(await found('acquired a vehicle'), undefined);
  await two.remember({ scope: 'agent', content: 'A vehicle was bought.' }, bounds);
  await tend(two);
  assert.equal(await found('acquired an automobile'), 'A vehicle was bought.');
});
