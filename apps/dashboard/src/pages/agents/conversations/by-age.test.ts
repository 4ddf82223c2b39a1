import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byAge } from './by-age.ts';

test('conversations stand by their age, in the order in which they came', () => {
  const now = Date.UTC(2026, 0, 31);
  const of = (...days: number[]) => days.map((day) => ({ updatedAt: new Date(now - day * 86_400_000).toISOString() }));
  const ages = (...days: number[]) => byAge(of(...days), now).map(([age, list]) => [age, list.length]);
  assert.deepEqual(ages(0, 0.5, 1, 6.9, 7, 400), [
    ['day', 2],
    ['week', 2],
    ['earlier', 2],
  ]);
  // A clock that is ahead, and a time that is none.
  assert.deepEqual(ages(-1), [['day', 1]]);
  assert.deepEqual(byAge([{ updatedAt: 'never' }], now)[0]?.[0], 'earlier');
  assert.deepEqual(byAge([], now), []);
});
