import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { createPieceCount, Gathered } from './pieces.ts';

test('what is gathered is what came, however it was cut', () => {
  const all = randomBytes(400_000);
  const gathered = new Gathered();
  for (let at = 0; at < all.length;) {
    const size = randomInt(10) === 0 ? randomInt(40_000) : randomInt(200);
    const piece = Buffer.from(all.subarray(at, at + size));
    gathered.add(piece);
    // Where it came from may be used again, unless it is large.
    if (at > 0 && piece.length < 16_384) piece.fill(0);
    at += size;
  }
  assert.equal(gathered.length, all.length);
  assert.ok(gathered.take().equals(all));
  assert.equal(gathered.length, 0);
  assert.equal(gathered.take().length, 0);
  gathered.add(Buffer.from('again'));
  assert.equal(gathered.take().toString(), 'again');
});

test('a small piece does not keep what it was cut from', () => {
  const gathered = new Gathered();
  const from = Buffer.alloc(65_536, 'x');
  for (let n = 0; n < 100; n += 1) gathered.add(from.subarray(0, 100));
  assert.notEqual(gathered.take().buffer, from.buffer);
});

test('anybody may send ten thousand pieces, and more where they bring something', () => {
  const small = createPieceCount();
  for (let n = 0; n < 10_000; n += 1) assert.ok(small(1));
  assert.equal(small(1), false);
  const fair = createPieceCount();
  for (let n = 0; n < 30_000; n += 1) assert.ok(fair(64));
  const mixed = createPieceCount();
  assert.ok(mixed(1_000_000));
  let pieces = 1;
  while (mixed(1)) pieces += 1;
  assert.ok(pieces > 15_000 && pieces < 20_000, `${pieces}`);
});
