import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallError } from '@troupe/contract';
import { isTooFast, retry, retryDelay } from './retrying.ts';

const failed = (status: number, after?: string) =>
  new CallError(status, { error: 'x' }, after === undefined ? {} : { 'retry-after': after });

test('what is wrong stays wrong, what was too fast or away is asked for again, twice', () => {
  for (const status of [400, 401, 404, 501]) assert.equal(retry(0, failed(status)), false);
  for (const status of [0, 429, 500, 502]) {
    assert.equal(retry(1, failed(status)), true);
    assert.equal(retry(2, failed(status)), false);
  }
  assert.deepEqual([isTooFast(failed(429)), isTooFast(failed(500)), isTooFast(null)], [true, false, false]);
});

test('who was too fast waits as long as was said, a minute at most, and not with all others', () => {
  assert.equal(
    retryDelay(0, failed(429, '7'), () => 0),
    7000,
  );
  assert.equal(
    retryDelay(0, failed(429, '7'), () => 1),
    7500,
  );
  assert.equal(
    retryDelay(0, failed(429, '86400'), () => 0),
    60_000,
  );
  for (const odd of [undefined, 'soon', '-5']) assert.equal(retryDelay(1, failed(429, odd)), 2000);
  assert.equal(retryDelay(0, failed(502)), 1000);
});
