import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCron, fromCron, nextTimes, toCron } from './schedule.ts';

const PLAIN = ['* * * * *', '*/15 * * * *', '5 * * * *', '0 9 * * *', '30 8 * * 1-5', '0 9 * * 1', '0 9 31 * *'];

test('a plain schedule comes back as the expression that it was', () => {
  for (const cron of PLAIN) assert.equal(toCron(fromCron(cron)), cron);
});

test('spaces do not matter, and what says more than plain words is kept as it is', () => {
  assert.equal(toCron(fromCron('  0   9 * * *  ')), '0 9 * * *');
  for (const cron of ['0 9 1 1 *', '0 0 9 * * *', '@daily', '', '1,2 * * * *']) {
    assert.equal(fromCron(cron).kind, 'custom');
    assert.equal(toCron(fromCron(cron)), cron);
  }
});

test('is said in words', () => {
  assert.equal(describeCron('* * * * *'), 'every minute');
  assert.equal(describeCron('*/15 * * * *'), 'every 15 minutes');
  assert.equal(describeCron('5 * * * *'), 'every hour at minute 5');
  assert.equal(describeCron('0 9 * * *'), 'every day at 09:00');
  assert.equal(describeCron('30 8 * * 1-5'), 'Monday to Friday at 08:30');
  assert.equal(describeCron('0 9 * * 7'), 'every Sunday at 09:00');
  assert.equal(describeCron('0 9 31 * *'), 'on day 31 of each month at 09:00');
  assert.equal(describeCron('*/30 8-17 * * 1-5'), 'every 30 minutes from 08:00 to 17:59, Monday to Friday');
  assert.equal(describeCron('0 9 1 1 *'), '0 9 1 1 *');
});

test('its next times are those of its own zone, across the change of the clocks', () => {
  const before = new Date('2026-03-28T12:00:00Z');
  const hours = nextTimes('0 9 * * *', 'Europe/Berlin', before, 3)?.map((time) => time.toISOString());
  assert.deepEqual(hours, ['2026-03-29T07:00:00.000Z', '2026-03-30T07:00:00.000Z', '2026-03-31T07:00:00.000Z']);
  const far = nextTimes('0 9 * * *', 'Pacific/Auckland', before, 1)?.map((time) => time.toISOString());
  assert.deepEqual(far, ['2026-03-28T20:00:00.000Z']);
});

test('what is no schedule, or no zone, has no times', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  for (const cron of ['', 'soon', '99 99 * * *', '-'.repeat(2000), '*/0 * * * *'])
    assert.equal(nextTimes(cron, 'UTC', now), undefined, cron.slice(0, 20));
  assert.equal(nextTimes('0 9 * * *', 'Mars/Olympus', now), undefined);
});
