import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choicesIn } from './branches.ts';

const branch = (id: string, branchOf: string | null, branchAt: number | null, updatedAt = '') => ({
  id,
  branchOf,
  branchAt,
  updatedAt,
});

test('an edited message has two ways, seen from both sides', () => {
  const family = [branch('a', null, null), branch('b', 'a', 3)];
  assert.deepEqual([...choicesIn(family, 'a', [1, 4, 7])], [[4, { ids: ['a', 'b'], index: 0 }]]);
  assert.deepEqual([...choicesIn(family, 'b', [1, 4])], [[4, { ids: ['a', 'b'], index: 1 }]]);
  assert.deepEqual([...choicesIn([branch('a', null, null)], 'a', [1])], []);
  assert.deepEqual([...choicesIn(family, 'other', [1])], []);
});

test('ways that part later count as one way here, and the newest of them is gone to', () => {
  // b and c edit the second message; d edits the third message of b.
  const family = [
    branch('a', null, null, '1'),
    branch('b', 'a', 3, '2'),
    branch('c', 'a', 3, '3'),
    branch('d', 'b', 6, '4'),
  ];
  assert.deepEqual([...choicesIn(family, 'a', [1, 4, 7])], [[4, { ids: ['a', 'd', 'c'], index: 0 }]]);
  assert.deepEqual(
    new Map(choicesIn(family, 'b', [1, 4, 7])),
    new Map([
      [4, { ids: ['a', 'b', 'c'], index: 1 }],
      [7, { ids: ['b', 'd'], index: 0 }],
    ]),
  );
});

test('a branch of a branch before it parted is another way of the first', () => {
  const family = [branch('a', null, null), branch('b', 'a', 6), branch('c', 'b', 3)];
  assert.deepEqual(
    choicesIn(family, 'a', [1, 4, 7]),
    new Map([
      [4, { ids: ['a', 'c'], index: 0 }],
      [7, { ids: ['a', 'b'], index: 0 }],
    ]),
  );
});

test('one that begins after the last message is no choice at a message, and a ring ends', () => {
  assert.deepEqual([...choicesIn([branch('a', null, null), branch('b', 'a', 9)], 'a', [1, 4])], []);
  assert.deepEqual([...choicesIn([branch('a', 'b', 1), branch('b', 'a', 1)], 'a', [2])].length, 1);
});
