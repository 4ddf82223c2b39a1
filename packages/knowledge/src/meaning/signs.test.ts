import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from './differing.ts';
import { leastOf, signBytes, SignList, signsOf } from './signs.ts';
import { bitsOf } from './vector.ts';

let state = 5;
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
const vectorOf = (dimension: number): Float32Array => Float32Array.from({ length: dimension }, random);

/** As PostgreSQL sends bits, without their number. */
const sent = (bits: string): Buffer =>
  Buffer.from(bits.match(/.{1,8}/g)!.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));

const differing = (one: Float32Array, other: Float32Array): number => {
  const [a, b] = [one, other].map((vector) => bitsOf(vector).slice(0, 512));
  return Array.from(a!).filter((bit, at) => bit !== b![at]).length;
};

test('differences are as many as bits differ, whatever the number of them, and the nearest are found', () => {
  for (const dimension of [8, 31, 33, 500, 512, 1536]) {
    const vectors = Array.from({ length: 200 }, () => vectorOf(dimension));
    const question = vectorOf(dimension);
    const each = signBytes(dimension);
    const signs = new Uint8Array(200 * each);
    for (const [n, vector] of vectors.entries()) signs.set(sent(bitsOf(vector).slice(0, 512)), n * each);
    const far = new Uint16Array(200);
    differences(signs, signsOf(question), 200, far);
    for (const [n, vector] of vectors.entries())
      assert.equal(far[n], differing(vector, question), `${dimension}: ${n}`);
    const found = leastOf(far, 200, 20);
    const bound = [...far].toSorted((a, b) => a - b)[19]!;
    assert.deepEqual(
      found,
      [...far.keys()].filter((n) => far[n]! <= bound),
    );
  }
  assert.deepEqual(leastOf(new Uint16Array(), 0, 10), []);
});

test('more than fit into the memory of the counting are counted piece by piece, and lists grow and are cleared', () => {
  for (const dimension of [16, 256, 1536]) {
    const list = new SignList(dimension);
    const vectors = Array.from({ length: 40 }, () => vectorOf(dimension));
    // With all signs, as a list may be given them.
    const signs = vectors.map((vector) => sent(bitsOf(vector)));
    const which = (n: number): number => (n * 7 + (n >> 8)) % 40;
    for (let n = 0; n < 20_000; n += 1) list.add(3 * n, signs[which(n)]!);
    assert.deepEqual([list.count, list.last], [20_000, 59_997]);
    const question = vectorOf(dimension);
    const far = vectors.map((vector) => differing(vector, question));
    const nearest = Array.from({ length: 20_000 }, (_, n) => n).filter((n) => far[which(n)] === Math.min(...far));
    assert.deepEqual(
      list.likely(signsOf(question), 1),
      nearest.map((n) => 3 * n),
    );
    list.clear();
    assert.deepEqual([list.count, list.last, list.likely(signsOf(question), 5)], [0, -1, []]);
    list.add(7, signs[0]!);
    assert.deepEqual(list.likely(signsOf(question), 5), [7]);
  }
});
