import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import { bytesOf, createLargeBodies } from './large-bodies.ts';

const KB = 1024;

/** How many of them get in, and what ends them again. */
function came(bodies: ReturnType<typeof createLargeBodies>, whom: string, bytes: number, times: number) {
  const inside: EventEmitter[] = [];
  const refusals = new Set<number>();
  for (let n = 0; n < times; n += 1) {
    const raw = new EventEmitter();
    try {
      bodies(bytes, { raw } as unknown as FastifyReply, whom);
      inside.push(raw);
    } catch (error) {
      assert.ok(error instanceof AppError);
      refusals.add(error.status);
    }
  }
  return { count: inside.length, refusals: [...refusals], end: () => inside.forEach((raw) => raw.emit('close')) };
}

test('a caller has so many bodies of each size at once, and small ones as they come', () => {
  const bodies = createLargeBodies();
  assert.deepEqual({ ...came(bodies, 'a', 64 * KB, 1000), end: null }, { count: 1000, refusals: [], end: null });
  const medium = came(bodies, 'a', 64 * KB + 1, 100);
  assert.deepEqual([medium.count, medium.refusals], [32, [429]]);
  const large = came(bodies, 'a', 1024 * KB + 1, 100);
  assert.deepEqual([large.count, large.refusals], [4, [429]]);
  medium.end();
  assert.equal(came(bodies, 'a', 1000 * KB, 100).count, 32, 'what is answered makes room');
});

test('nobody has more than is left, and who comes first gets in', () => {
  const bodies = createLargeBodies();
  const many = Array.from({ length: 40 }, (_, n) => came(bodies, `stranger${n}`, 500 * KB, 100).count);
  const all = many.reduce((sum, one) => sum + one, 0);
  assert.ok(all <= 256, `${all} are held`);
  assert.equal(many[0], 32);
  assert.ok(came(createLargeBodies(), 'b', 500 * KB, 1).count === 1);
});

test('a body whose length is not said is as large as may come', () => {
  assert.equal(bytesOf({ headers: { 'content-length': '7' } }, 100), 7);
  assert.equal(bytesOf({ headers: { 'transfer-encoding': 'chunked' } }, 100), 100);
  assert.equal(bytesOf({ headers: {} }, 100), 0);
});
