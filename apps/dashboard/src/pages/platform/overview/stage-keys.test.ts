import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from './stage-keys.ts';

/** Three in a row, two below; the second row stands a little to the right. */
const box = (left: number, top: number) => ({ left, right: left + 40, top, bottom: top + 20 });
const BOXES = [box(0, 0), box(50, 0), box(100, 0), box(10, 30), box(60, 30)];

test('the arrows go to what stands there on the screen', () => {
  const way = (from: number, ...keys: string[]) => keys.map((key) => nearest(BOXES, from, `Arrow${key}`));
  assert.deepEqual(way(0, 'Right', 'Down', 'Left', 'Up'), [1, 3, -1, -1]);
  assert.deepEqual(way(1, 'Right', 'Left', 'Down'), [2, 0, 4]);
  assert.deepEqual(way(4, 'Up', 'Left', 'Down'), [1, 3, -1]);
  assert.equal(nearest(BOXES, 0, 'x'), -1);
  assert.equal(nearest([], 0, 'ArrowUp'), -1);
});
