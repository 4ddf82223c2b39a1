/**
 * Vectors of 1,536 numbers (BENCH_DIMENSION) without a model: a text's is its topic's (one of 1,000) and its own by chance, a
 * question's is that of a text with more chance in it (cosine 0.6).
 */

export const DIMENSION = Number(process.env['BENCH_DIMENSION'] ?? 1536);
export const MODEL = 'vectors by chance';
const TOPICS = 1000;

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
  const length = Math.sqrt(square);
  for (let at = 0; at < DIMENSION; at += 1) sum[at]! /= length;
  return sum;
}

const topics = new Map<number, Float32Array>();
function topicOf(number: number): Float32Array {
  const topic = number % TOPICS;
  const known = topics.get(topic) ?? chance(-2 - topic);
  topics.set(topic, known);
  return known;
}

export const vectorOf = (number: number): Float32Array =>
  mixed([
    [0.6, topicOf(number)],
    [0.8, chance(number)],
  ]);

/** The n-th question, about that text. */
export const questionOf = (number: number, n: number): Float32Array =>
  mixed([
    [0.6, vectorOf(number)],
    [0.8, chance(1_000_000_000 + n)],
  ]);
