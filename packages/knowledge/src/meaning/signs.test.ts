import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, leastOf, putSigns, signsOf, wordsFor } from './signs.ts';
import { bitsOf } from './vector.ts';

let state = 5;
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;

/** As PostgreSQL sends bits, without their number. */
const sent = (bits: string): Buffer =>
  Buffer.from(bits.match(/.{1,8}/g)!.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));

test('differences are as many as bits differ, whatever the number of them, and the nearest are found', () => {
  for (const dimension of [8, 31, 33, 500, 512, 1536]) {
    const words = wordsFor(dimension);
    const vectors = Array.from({ length: 200 }, () => Float32Array.from({ length: dimension }, random));
    const question = Float32Array.from({ length: dimension }, random);
    const signs = new Int32Array(200 * words);
    for (const [n, vector] of vectors.entries())
      putSigns(sent(bitsOf(vector).slice(0, 512)), 0, signs, n * words, words);
    const far = new Uint16Array(200);
    differences(signs, signsOf(question), 200, far);
    const asked = bitsOf(question).slice(0, 512);
    for (const [n, vector] of vectors.entries()) {
      const bits = bitsOf(vector).slice(0, 512);
      assert.equal(far[n], Array.from(bits).filter((bit, at) => bit !== asked[at]).length, `${dimension}: ${n}`);
    }
    const found = leastOf(far, 200, 20);
    const bound = [...far].toSorted((a, b) => a - b)[19]!;
    assert.deepEqual(
      found,
      [...far.keys()].filter((n) => far[n]! <= bound),
    );
  }
  assert.deepEqual(leastOf(new Uint16Array(), 0, 10), []);
});
