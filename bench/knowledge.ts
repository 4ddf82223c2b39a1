import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { testDatabase } from '@troupe/testing/database/server';
import { createPgStore, createSqliteStore, type AgentStore } from '@troupe/agent';
import { createWorkerPool, newId } from '@troupe/kernel';
import { addPassages, createPassageSearch, extract, holdCollection } from '@troupe/knowledge';
import { sql } from 'kysely';
import { manyMeanings } from './knowledge/many-meanings.ts';
import { byMeaning } from './knowledge/meaning.ts';
import { finish, printTable } from './lib/report.ts';
import type { Target } from './lib/results.ts';

/**
 * Documents of made-up words, as often as words are in a language (the n-th word n times rarer than the first, 60,000 of
 * them), 300 words a page: read, cut and indexed as uploads are, then searched with questions of four to eight words of a
 * passage. BENCH_PASSAGES: how many. BENCH_DIALOGUES: a folder with the dialogues of LoCoMo (JSON files with session_N,
 * session_N_date_time and qa); each turn is a memory, and a question counts as answered when a turn that its authors name
 * as evidence is among the first ten. The dialogues are not ours to bring (CC BY-NC).
 *
 * In SQLite there are no documents: there as many passages are memories of an agent, searched as it does.
 */

const PASSAGES = Number(process.env['BENCH_PASSAGES'] ?? 100_000);
const DIALOGUES = process.env['BENCH_DIALOGUES'];
const VOCABULARY = 60_000;
const PAGE_WORDS = 300;
const DOCUMENT_PAGES = 200;
const QUESTIONS = 300;
const searchPassages = createPassageSearch();

const { db, drop } = await testDatabase();
const pool = createWorkerPool();
const userId = newId();

let state = 42;
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
const word = (): string => {
  let rank = Math.floor(VOCABULARY ** random());
  let text = '';
  for (; rank > 0; rank = Math.floor(rank / 20)) text += 'bcdfghjklmnpqrstvwxz'[rank % 20]! + 'aeiou'[rank % 5]!;
  return text || 'ba';
};
const sentence = (): string => `${Array.from({ length: 12 }, word).join(' ')}.`;
const page = (): string =>
  Array.from({ length: 5 }, () => Array.from({ length: PAGE_WORDS / 60 }, sentence).join(' ')).join('\n\n');

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))]!;

async function makeCollection(): Promise<string> {
  const id = newId();
  await sql`insert into users (id, email, name, referral_code, created_at, updated_at)
    values (${userId}, 'bench@example.org', 'bench', 'bench', now(), now())`.execute(db.system);
  await sql`insert into knowledge_collections (id, user_id, name, created_at, updated_at) values (${id}, ${userId}, 'bench', now(), now())`.execute(
    db.system,
  );
  return id;
}

/** As the job does it, without the queue. */
async function addDocument(collectionId: string, text: string): Promise<string[]> {
  const found = await extract(pool, userId, { bytes: Buffer.from(text), name: 'bench.txt' });
  if (!found.ok) throw new Error(found.error);
  const documentId = newId();
  const words = found.passages.reduce((sum, one) => sum + one.words, 0);
  await db.asUser(userId, async (tx) => {
    const collection = (await holdCollection(tx, collectionId))!;
    await sql`insert into knowledge_documents (id, user_id, collection_id, name, source, state, first, passages, created_at, updated_at)
      values (${documentId}, ${userId}, ${collectionId}, 'bench', 'text', 'ready', ${collection.next}, ${found.passages.length}, now(), now())`.execute(
      tx,
    );
    await addPassages(
      tx,
      { userId, collection: collection.number, documentId, first: collection.next },
      found.passages,
    );
    await sql`update knowledge_collections set passages = passages + ${found.passages.length}, words = words + ${words},
      next = next + ${found.passages.length} where id = ${collectionId}`.execute(tx);
  });
  return found.passages.map((one) => one.text);
}

async function fill(collectionId: string): Promise<{ pagesPerSecond: number; texts: string[] }> {
  const texts: string[] = [];
  let [pages, passages, ms] = [0, 0, 0];
  while (passages < PASSAGES) {
    const text = Array.from({ length: DOCUMENT_PAGES }, page).join('\n\n');
    const started = performance.now();
    const added = await addDocument(collectionId, text);
    ms += performance.now() - started;
    pages += DOCUMENT_PAGES;
    passages += added.length;
    texts.push(...added.filter((_, index) => index % 100 === 0));
  }
  return { pagesPerSecond: (pages / ms) * 1000, texts };
}

/** Questions of four to eight words of a passage; how long each took, and how often it was among the first ten. */
async function ask(
  texts: readonly string[],
  find: (question: string) => Promise<string[]>,
): Promise<{ times: number[]; found: number }> {
  const times: number[] = [];
  let found = 0;
  for (let n = 0; n < QUESTIONS + 20; n += 1) {
    const text = texts[Math.floor(random() * texts.length)]!;
    const words = text.split(/\W+/);
    const asked = Array.from({ length: 4 + (n % 5) }, () => words[Math.floor(random() * words.length)]).join(' ');
    const started = performance.now();
    const hits = await find(asked);
    // The first few find cold caches.
    if (n < 20) continue;
    times.push(performance.now() - started);
    if (hits.includes(text)) found += 1;
  }
  return { times, found: (100 * found) / QUESTIONS };
}

/** Put into the file as they are: it is indexed when it is opened. */
async function inSqlite(): Promise<{ times: number[]; found: number }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-knowledge-'));
  const given = { file: path.join(folder, 'agent.db'), agentId: 'a' };
  createSqliteStore(given).close();
  const file = new DatabaseSync(given.file);
  const insert = file.prepare(
    "insert into memory (id, scope, content, created_at, updated_at, expires_at) values (?, 'agent:a', ?, ?, '', '9')",
  );
  const texts: string[] = [];
  file.exec('begin');
  for (let n = 0; n < PASSAGES; n += 1) {
    const text = Array.from({ length: 16 }, sentence).join(' ');
    if (n % 100 === 0) texts.push(text);
    insert.run(newId(), text, new Date(n * 60_000).toISOString());
  }
  file.exec('commit');
  file.close();
  const store = createSqliteStore(given);
  const figures = await ask(texts, async (query) =>
    (await store.recall({ scope: 'agent', query, limit: 10 })).map(({ content }) => content),
  );
  store.close();
  await rm(folder, { recursive: true });
  return figures;
}

interface Turn {
  speaker: string;
  dia_id: string;
  text: string;
}
interface Dialogue extends Record<string, unknown> {
  qa: { question: string; evidence: unknown; category: number }[];
}

/** Questions that nobody could answer (category 5) are left out. */
async function recallIn(dialogue: Dialogue, store: AgentStore, setNow: (at: Date) => void) {
  const turnOf = new Map<string, string>();
  for (let n = 1; dialogue[`session_${n}_date_time`] !== undefined; n += 1) {
    const day = new Date(
      `${/\d+ \w+,? \d{4}/.exec(String(dialogue[`session_${n}_date_time`]))?.[0]} 12:00 UTC`,
    ).getTime();
    for (const [index, turn] of ((dialogue[`session_${n}`] ?? []) as Turn[]).entries()) {
      setNow(new Date(day + index * 60_000));
      const bounds = { maxEntries: 100_000, ttlDays: 3650 };
      const { id } = await store.remember({ scope: 'agent', content: `${turn.speaker}: ${turn.text}` }, bounds);
      turnOf.set(id, turn.dia_id);
    }
  }
  const known = new Set(turnOf.values());
  let [asked, hit] = [0, 0];
  for (const { question, evidence, category } of dialogue.qa) {
    const wanted = (String(evidence).match(/D\d+:\d+/g) ?? []).filter((turn) => known.has(turn));
    if (category === 5 || wanted.length === 0) continue;
    const memories = await store.recall({ scope: 'agent', query: question, limit: 10 });
    const found = new Set(memories.map(({ id }) => turnOf.get(id)));
    asked += 1;
    if (wanted.some((turn) => found.has(turn))) hit += 1;
  }
  return { asked, hit };
}

async function recall(folder: string, kind: 'sqlite' | 'postgres'): Promise<number> {
  let [asked, hit] = [0, 0];
  for (const name of (await readdir(folder)).filter((one) => one.endsWith('.json'))) {
    const dialogue = JSON.parse(await readFile(path.join(folder, name), 'utf8')) as Dialogue;
    let now = new Date();
    const agentId = newId();
    if (kind === 'postgres')
      await sql`insert into agents (id, user_id, name) values (${agentId}, ${userId}, 'A')`.execute(db.system);
    const clock = (): Date => now;
    const store: AgentStore =
      kind === 'sqlite'
        ? createSqliteStore({ file: ':memory:', agentId, now: clock })
        : createPgStore({ db, userId, agentId, now: clock });
    const found = await recallIn(dialogue, store, (at) => (now = at));
    asked += found.asked;
    hit += found.hit;
  }
  return (100 * hit) / asked;
}

const collectionId = await makeCollection();
const { pagesPerSecond, texts } = await fill(collectionId);
const inPostgres = await ask(texts, async (query) =>
  (await searchPassages(db.user(userId), [collectionId], query, 10)).map(({ text }) => text),
);
const both = await manyMeanings({ db, userId, collectionId, searchPassages, random });
const lite = await inSqlite();
const meant = await byMeaning({ db, userId, searchPassages, passage: sentence, random });
const targets: Target[] = [
  {
    figure: `search of ${PASSAGES} passages in PostgreSQL, p95 ms`,
    value: percentile(inPostgres.times, 0.95),
    atMost: 20,
  },
  { figure: `search of ${PASSAGES} memories in SQLite, p95 ms`, value: percentile(lite.times, 0.95), atMost: 20 },
  {
    figure: `search of ${PASSAGES} passages by words and meaning in PostgreSQL, p95 ms`,
    value: percentile(both.times, 0.95),
    atMost: 20,
  },
  { figure: 'indexing, pages a second', value: pagesPerSecond, atLeast: 100 },
  { figure: 'misspelt questions, fused, found of 100', value: meant.fused, atLeast: meant.words },
];
printTable(
  'Search',
  Object.entries({ PostgreSQL: inPostgres, 'PostgreSQL, words and meaning': both, SQLite: lite }).map(
    ([store, { times, found }]) => ({
      store,
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      'found of 100': found,
    }),
  ),
);
printTable('Misspelt questions, found of 100', [meant]);
if (DIALOGUES !== undefined)
  for (const kind of ['sqlite', 'postgres'] as const)
    targets.push({
      figure: `memory found in the first ten, ${kind}, of 100`,
      value: await recall(DIALOGUES, kind),
      atLeast: 75,
    });
await pool.close();
await drop();
finish('knowledge', targets, { p50: percentile(inPostgres.times, 0.5), 'first search by meaning, ms': both.cold });
