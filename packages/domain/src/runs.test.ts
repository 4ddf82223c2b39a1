import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepsOfRun } from './runs.ts';

const LOG = [
  { seq: 1, type: 'user' },
  { seq: 2, type: 'assistant' },
  { seq: 3, type: 'run_ended' },
  { seq: 4, type: 'user' },
  { seq: 5, type: 'cancel_requested' },
  { seq: 6, type: 'user' },
  { seq: 7, type: 'assistant' },
  { seq: 8, type: 'run_ended', leaves: 6 },
  { seq: 9, type: 'assistant' },
  { seq: 10, type: 'run_ended' },
  { seq: 11, type: 'user' },
];
const run = (first: number) => stepsOfRun(LOG, first).map(({ seq }) => seq);

test('a run is what lies between its first input and its end', () => {
  assert.deepEqual(run(1), [1, 2, 3]);
  assert.deepEqual(run(11), [11]);
  assert.deepEqual(run(12), []);
});

test('what is said after a run was stopped is the next one', () => {
  assert.deepEqual(run(4), [4, 5, 7, 8]);
  assert.deepEqual(run(6), [6, 9, 10]);
});
