import { createWorkerPool, newId } from '@troupe/kernel';
import {
  addPassages,
  createPassageSearch,
  embeddingOf,
  extract,
  holdCollection,
  keepVectors,
  setEmbedding,
  type Extracted,
} from '@troupe/knowledge';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { finish, printTable } from '../lib/report.ts';
import { DIMENSION, MODEL, questionOf, vectorOf } from './vectors.ts';
import { ask, createChance, createWriter, figuresOf, percentile, rowOf, someOf, type Asked } from './words.ts';

/**
 * Documents of made-up words, 300 words a page, read, cut and indexed as uploads are, until there are 100,000 passages
 * (BENCH_PASSAGES) in PostgreSQL; then searched by words, and by words and meaning as agents do. How fast they are indexed is
 * measured with documents of 200 pages, at the beginning and when the collection is almost full; between that documents of
 * 2,000 pages fill it, which is faster. Making a vector of a question is not part of its time: that is the provider's.
 */

const PASSAGES = Number(process.env['BENCH_PASSAGES'] ?? 100_000);
const MEASURED_PAGES = 200;
const FILLING_PAGES = 2000;
const MEASURED_PASSAGES = Math.min(5000, PASSAGES / 4);
const VECTORS_AT_ONCE = 1000;
const USER = 'bench';

const random = createChance();
const { page } = createWriter(random);
const pagesOf = (count: number): Buffer => Buffer.from(Array.from({ length: count }, page).join('\n\n'));
type Read = (bytes: Buffer) => Promise<Extracted>;

/** As the job does it, without the queue. */
async function addDocument({ db }: TestDatabase, collectionId: string, found: Extracted): Promise<string[]> {
  if (!found.ok) throw new Error(found.error);
  const documentId = newId();
  const { passages } = found;
  const words = passages.reduce((sum, one) => sum + one.words, 0);
  await db.asUser(USER, async (tx) => {
    const { number, next } = (await holdCollection(tx, collectionId))!;
    await sql`insert into knowledge_documents (id, user_id, collection_id, name, source, state, first, passages, created_at, updated_at)
      values (${documentId}, ${USER}, ${collectionId}, 'bench', 'text', 'ready', ${next}, ${passages.length}, now(), now())`.execute(
      tx,
    );
    await addPassages(tx, { userId: USER, collection: number, documentId, first: next }, passages);
    await sql`update knowledge_collections set passages = passages + ${passages.length}, words = words + ${words},
      next = next + ${passages.length} where id = ${collectionId}`.execute(tx);
  });
  return passages.map((one) => one.text);
}

/** How many pages a second were indexed, and some of the texts. */
async function fill(database: TestDatabase, collectionId: string, read: Read) {
  const texts: string[] = [];
  const done = { pages: 0, ms: 0, passages: 0 };
  const keep = (added: readonly string[]): void => {
    done.passages += added.length;
    texts.push(...added.filter((_, index) => index % 100 === 0));
  };
  async function measured(upTo: number): Promise<void> {
    while (done.passages < upTo) {
      const bytes = pagesOf(MEASURED_PAGES);
      const started = performance.now();
      keep(await addDocument(database, collectionId, await read(bytes)));
      done.ms += performance.now() - started;
      done.pages += MEASURED_PAGES;
    }
  }
  await measured(MEASURED_PASSAGES);
  // The next is read while the last one is written.
  let next = read(pagesOf(FILLING_PAGES));
  while (done.passages < PASSAGES - 2 * MEASURED_PASSAGES) {
    const found = await next;
    next = read(pagesOf(FILLING_PAGES));
    keep(await addDocument(database, collectionId, found));
  }
  await next;
  await measured(PASSAGES);
  return { texts, pagesPerSecond: (done.pages / done.ms) * 1000 };
}

async function makeCollection({ db }: TestDatabase): Promise<string> {
  const id = newId();
  await testUser(db, USER);
  await sql`insert into knowledge_collections (id, user_id, name, created_at, updated_at)
    values (${id}, ${USER}, 'bench', now(), now())`.execute(db.system);
  return id;
}

async function embedAll({ db }: TestDatabase, collectionId: string): Promise<number> {
  await db.asUser(USER, (tx) =>
    setEmbedding(tx, collectionId, { embeddings: MODEL, dimension: DIMENSION, generation: 1 }),
  );
  const { number } = (await embeddingOf(db.user(USER), collectionId))!;
  const { rows } = await sql<{ n: number }>`select max(number) as n from knowledge_passages
    where collection = ${number}`.execute(db.system);
  for (let from = 0; from <= rows[0]!.n; from += VECTORS_AT_ONCE) {
    const given = Array.from({ length: VECTORS_AT_ONCE }, (_, n) => ({ number: from + n, vector: vectorOf(from + n) }));
    await db.asUser(USER, (tx) => keepVectors(tx, { userId: USER, number, generation: 1 }, given));
  }
  await sql`analyze knowledge_meanings, knowledge_vectors`.execute(db.system);
  return number;
}

/** Three words of a passage and a vector like its own, so that both orders count. */
async function askBoth({ db }: TestDatabase, collectionId: string, number: number): Promise<Asked> {
  const search = createPassageSearch();
  const { rows } = await sql<{ number: number; text: string }>`select number, text from knowledge_passages
    where collection = ${number} and number % 97 = 0`.execute(db.system);
  return ask((n) => {
    const passage = rows[Math.floor(random() * rows.length)]!;
    const vector = questionOf(passage.number, n);
    const meaning = { vector: async () => vector, misfit: async () => {} };
    const words = someOf(passage.text, 3, random);
    return {
      text: passage.text,
      find: async () => (await search(db.user(USER), [collectionId], words, 10, meaning)).map(({ text }) => text),
    };
  });
}

export async function benchDocuments(): Promise<void> {
  const database = await testDatabase();
  const { db } = database;
  const collectionId = await makeCollection(database);
  const pool = createWorkerPool();
  const read: Read = (bytes) => extract(pool, USER, { bytes, name: 'bench.txt' });
  const { texts, pagesPerSecond } = await fill(database, collectionId, read);
  await pool.close();
  await sql`analyze knowledge_passages, knowledge_postings, knowledge_documents`.execute(db.system);
  const search = createPassageSearch();
  const words = await ask((n) => {
    const text = texts[Math.floor(random() * texts.length)]!;
    const question = someOf(text, 4 + (n % 5), random);
    return {
      text,
      find: async () => (await search(db.user(USER), [collectionId], question, 10)).map((one) => one.text),
    };
  });
  const started = performance.now();
  const number = await embedAll(database, collectionId);
  const embedded = (performance.now() - started) / 1000;
  const both = await askBoth(database, collectionId, number);
  await database.drop();
  printTable(`Search of ${PASSAGES} passages in PostgreSQL, milliseconds`, [
    rowOf('words', words),
    rowOf('words and meaning', both),
  ]);
  finish(
    'knowledge documents',
    [
      { figure: 'words_p95_ms', value: percentile(words.times, 0.95), atMost: 20 },
      { figure: 'meaning_p95_ms', value: percentile(both.times, 0.95), atMost: 20 },
      { figure: 'indexed_pages_per_second', value: pagesPerSecond, atLeast: 100 },
    ],
    { ...figuresOf('words', words), ...figuresOf('meaning', both), vectors_kept_s: embedded },
  );
}
