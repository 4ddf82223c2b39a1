import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestSilence } from './silence.ts';

test('silence is the longest that nobody was answered, whoever was answered at once', () => {
  assert.equal(longestSilence([90, 101, 140, 2140, 2200, 2900], 100, 3000), 2000);
  // Somebody is slow to come back, and then stays away.
  assert.equal(longestSilence([90, 150, 200], 100, 3000), 2800);
  assert.equal(longestSilence([90, 3100], 100, 3000), Infinity);
  assert.equal(longestSilence([90, 900], 100, 1000), 800);
});
