/** What an embeddings model makes of a text, checked: whoever serves it may answer anything. */

const LEAST_DIMENSION = 8;
const MOST_DIMENSION = 8192;

/** The answer is not what was asked for; the message is a sentence for the owner. */
export class Misfit extends Error {}

type Answered = readonly { index: number; embedding: unknown }[];

function vectorOf(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding)) throw new Misfit('The embeddings model answered with something else than numbers.');
  if (embedding.length < LEAST_DIMENSION || embedding.length > MOST_DIMENSION)
    throw new Misfit(`The embeddings model answered with ${embedding.length} numbers for a text.`);
  let square = 0;
  for (const one of embedding) {
    if (typeof one !== 'number' || !Number.isFinite(one) || Math.abs(one) > 1e6)
      throw new Misfit('The embeddings model answered with something else than numbers.');
    square += one * one;
  }
  if (square < 1e-12) throw new Misfit('The embeddings model answered with nothing but zeros.');
  const length = Math.sqrt(square);
  return Float32Array.from(embedding as number[], (one) => one / length);
}

/** One for each text, in their order, of length 1, all of one dimension. */
export function vectorsOf(answered: Answered, count: number): Float32Array[] {
  const vectors: Float32Array[] = [];
  for (const { index, embedding } of answered.slice(0, count)) {
    if (!Number.isInteger(index) || index < 0 || index >= count || vectors[index])
      throw new Misfit('The embeddings model answered for other texts than those it was given.');
    vectors[index] = vectorOf(embedding);
  }
  if (answered.length !== count)
    throw new Misfit(`The embeddings model answered for ${answered.length} of ${count} texts.`);
  if (vectors.some(({ length }) => length !== vectors[0]!.length))
    throw new Misfit('The embeddings model answered with different numbers of values for texts of one call.');
  return vectors;
}

/** As PostgreSQL writes bits. */
export const bitsOf = (vector: Float32Array): string => {
  let bits = '';
  for (const one of vector) bits += one > 0 ? '1' : '0';
  return bits;
};

/** A byte each, the largest as far as a byte goes. */
export function bytesOf(vector: Float32Array): Buffer {
  let most = 0;
  for (const one of vector) most = Math.max(most, Math.abs(one));
  const bytes = new Int8Array(vector.length);
  for (let at = 0; at < vector.length; at += 1) bytes[at] = Math.round((vector[at]! / most) * 127);
  return Buffer.from(bytes.buffer);
}

/** How near a text is to a question, from -1 to 1. */
export function nearness(question: Float32Array, bytes: Uint8Array): number {
  if (bytes.length !== question.length) return -1;
  let [sum, square] = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const one = (bytes[at]! << 24) >> 24;
    sum += question[at]! * one;
    square += one * one;
  }
  return square === 0 ? -1 : sum / Math.sqrt(square);
}

/** Far below the best, a text has nothing to do with the question. */
const LEAST = 0.1;
const SHARE = 0.6;

/** Those that are near, the nearest first. */
export function nearOnes<T extends { near: number }>(all: readonly T[]): T[] {
  const sorted = all.toSorted((a, b) => b.near - a.near);
  const least = Math.max(LEAST, (sorted[0]?.near ?? 0) * SHARE);
  return sorted.filter(({ near }) => near >= least);
}

/** How much less the next one of a list counts. */
const FLAT = 60;

/** Several orders of the same things as one, by reciprocal rank. */
export function fuse<T>(orders: readonly (readonly T[])[], key: (one: T) => string): { one: T; score: number }[] {
  const scores = new Map<string, { one: T; score: number }>();
  for (const order of orders)
    for (const [place, one] of order.entries()) {
      const known = scores.get(key(one)) ?? { one, score: 0 };
      known.score += 1 / (FLAT + place + 1);
      scores.set(key(one), known);
    }
  return [...scores.values()].toSorted((a, b) => b.score - a.score);
}
