import type { Database } from '@troupe/db';
import { embeddingOf, keepVectors, setEmbedding, type PassageSearch } from '@troupe/knowledge';
import { sql } from 'kysely';

/**
 * All passages of a collection as vectors of 1,536 numbers (BENCH_DIMENSION), then searched by words and meaning as agents do.
 * There is no model here: a passage's vector is its topic's (one of 1,000) and its own by chance, a question's is that of a
 * passage with more chance in it (cosine 0.6). Its words are three words of the passage, so that both orders count. Making
 * a vector of the question is not part of the time: that is the provider's.
 */

const DIMENSION = Number(process.env['BENCH_DIMENSION'] ?? 1536);
const TOPICS = 1000;
const QUESTIONS = 300;
const WARM = 20;
const AT_ONCE = 1000;
const MODEL = 'vectors by chance';

/** Numbers around 0, the same for the same seed. */
function chance(seed: number): Float32Array {
  const vector = new Float32Array(DIMENSION);
  let state = (Math.imul(seed + 1, 2_654_435_761) >>> 0) | 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32 - 0.5;
  };
  for (let n = 0; n < 8; n += 1) next();
  for (let at = 0; at < DIMENSION; at += 1) vector[at] = next() + next();
  return vector;
}

function mixed(parts: readonly (readonly [share: number, vector: Float32Array])[]): Float32Array {
  const sum = new Float32Array(DIMENSION);
  for (const [share, vector] of parts) {
    const length = Math.hypot(...vector.subarray(0, 256)) * Math.sqrt(DIMENSION / 256);
    for (let at = 0; at < DIMENSION; at += 1) sum[at]! += (share * vector[at]!) / length;
  }
  let square = 0;
  for (const one of sum) square += one * one;
  return sum.map((one) => one / Math.sqrt(square));
}

const topics = new Map<number, Float32Array>();
function topicOf(number: number): Float32Array {
  const topic = number % TOPICS;
  const known = topics.get(topic) ?? chance(-2 - topic);
  topics.set(topic, known);
  return known;
}
const vectorOf = (number: number): Float32Array =>
  mixed([
    [0.6, topicOf(number)],
    [0.8, chance(number)],
  ]);

interface Given {
  db: Database;
  userId: string;
  collectionId: string;
  searchPassages: PassageSearch;
  random: () => number;
}

async function embedAll({ db, userId, collectionId }: Given): Promise<number> {
  const started = performance.now();
  await db.asUser(userId, (tx) =>
    setEmbedding(tx, collectionId, { embeddings: MODEL, dimension: DIMENSION, generation: 1 }),
  );
  const { number } = (await embeddingOf(db.user(userId), collectionId))!;
  const { rows } = await sql<{ n: number }>`select max(number) as n from knowledge_passages
    where collection = ${number}`.execute(db.system);
  for (let from = 0; from <= rows[0]!.n; from += AT_ONCE) {
    const given = Array.from({ length: AT_ONCE }, (_, n) => ({ number: from + n, vector: vectorOf(from + n) }));
    await db.asUser(userId, (tx) => keepVectors(tx, { userId, number, generation: 1 }, given));
  }
  await sql`analyze knowledge_meanings, knowledge_vectors`.execute(db.system);
  return performance.now() - started;
}

/** How long each question took but for its vector, and how often its passage was among the first ten. */
export async function manyMeanings(given: Given): Promise<{ times: number[]; found: number; cold: number }> {
  const { db, userId, collectionId, searchPassages, random } = given;
  await embedAll(given);
  const { number } = (await embeddingOf(db.user(userId), collectionId))!;
  const { rows } = await sql<{ number: number; text: string }>`select number, text from knowledge_passages
    where collection = ${number} and number % 97 = 0`.execute(db.system);
  const times: number[] = [];
  let [found, cold] = [0, 0];
  for (let n = 0; n < QUESTIONS + WARM; n += 1) {
    const passage = rows[Math.floor(random() * rows.length)]!;
    const words = passage.text.split(/\W+/);
    const asked = Array.from({ length: 3 }, () => words[Math.floor(random() * words.length)]).join(' ');
    const vector = mixed([
      [0.6, vectorOf(passage.number)],
      [0.8, chance(1_000_000_000 + n)],
    ]);
    const meaning = { vector: async () => vector, misfit: async () => {} };
    const started = performance.now();
    const hits = await searchPassages(db.user(userId), [collectionId], asked, 10, meaning);
    const took = performance.now() - started;
    if (n === 0) cold = took;
    // The first few find cold caches.
    if (n < WARM) continue;
    times.push(took);
    if (hits.some(({ text }) => text === passage.text)) found += 1;
  }
  return { times, found: (100 * found) / QUESTIONS, cold };
}
