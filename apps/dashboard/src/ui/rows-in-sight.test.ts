import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piecesOf, rangeOf, startsOf } from './rows-in-sight.ts';

const even = startsOf(Array.from({ length: 1000 }, () => 50));
const rows = (pieces: ReturnType<typeof piecesOf>) => pieces.flatMap((piece) => ('row' in piece ? [piece.row] : []));
const room = (pieces: ReturnType<typeof piecesOf>) =>
  pieces.reduce((sum, piece) => sum + ('room' in piece ? piece.room : 0), 0);

test('of a thousand only those in sight and a few beside them are there', () => {
  assert.deepEqual(rangeOf(even, { top: 0, height: 500 }), [0, 14]);
  assert.deepEqual(rangeOf(even, { top: 25_000, height: 500 }), [497, 514]);
  assert.deepEqual(rangeOf(even, { top: 49_500, height: 500 }), [987, 1000]);
});

test('a view beyond the end, before the rows or without rows is no error', () => {
  assert.deepEqual(rangeOf(even, { top: 90_000, height: 500 }), [996, 1000]);
  assert.deepEqual(rangeOf([0], { top: 400, height: 500 }), [0, 0]);
  assert.deepEqual(piecesOf([0], [0, 0], -1), []);
});

test('rows of different heights are found where they are', () => {
  const starts = startsOf([10, 500, 10, 10, ...Array.from({ length: 20 }, () => 10)]);
  assert.deepEqual(rangeOf(starts, { top: 100, height: 100 }), [0, 5]);
  assert.deepEqual(rangeOf(starts, { top: 600, height: 50 }), [8, 20]);
});

test('what is left out keeps its room, wherever one looks', () => {
  for (const top of [0, 1, 12_345, 49_999]) {
    const pieces = piecesOf(even, rangeOf(even, { top, height: 700 }), -1);
    assert.equal(room(pieces) + rows(pieces).length * 50, 50_000);
  }
});

test('the row with the focus stays, before, among and after those in sight', () => {
  const range = rangeOf(even, { top: 25_000, height: 500 });
  for (const focused of [0, 3, 500, 999]) {
    const pieces = piecesOf(even, range, focused);
    assert.ok(rows(pieces).includes(focused));
    assert.deepEqual(
      rows(pieces),
      rows(pieces).toSorted((a, b) => a - b),
    );
    assert.equal(new Set(rows(pieces)).size, rows(pieces).length);
    assert.equal(room(pieces) + rows(pieces).length * 50, 50_000);
  }
  assert.equal(rows(piecesOf(even, range, 1000)).length, 17);
});
