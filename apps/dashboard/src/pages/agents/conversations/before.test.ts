import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@troupe/testing/machine/processor';
import { changesOf } from './before.ts';

const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}`);
const inShort = (before: string[], after: string[]) =>
  changesOf(before.join('\n'), after.join('\n')).map(({ kind, lines }) => `${kind} ${lines.length}: ${lines[0]}`);

test('what changes, and a few lines around it', () => {
  const before = lines(1, 30);
  assert.deepEqual(inShort(before, before.with(14, 'another')), [
    'left out 11: line 1',
    'same 3: line 12',
    'removed 1: line 15',
    'added 1: another',
    'same 3: line 16',
    'left out 12: line 19',
  ]);
  assert.deepEqual(inShort(['a'], ['a', 'b']), ['same 1: a', 'added 1: b']);
  assert.deepEqual(inShort(before, before), ['left out 30: line 1']);
});

test('files of any size are compared in bounded time', () => {
  const ms = processorMs(() => {
    const [before, after] = [lines(1, 100_000), lines(2, 100_001).map((line) => `${line}.`)];
    assert.equal(changesOf(before.join('\n'), after.join('\n')).length, 2);
  });
  assert.ok(ms < 3000, `${ms} ms`);
});
