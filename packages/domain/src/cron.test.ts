import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeZone, parseSchedule } from './cron.ts';

const at = (text: string) => new Date(text);
const now = at('2026-01-01T00:00:00Z');
const runs = (expression: string, zone: string, from: string, count: number) => {
  const schedule = parseSchedule(expression, zone, now)!;
  const found: string[] = [];
  for (let next = schedule.next(at(from)); next && found.length < count; next = schedule.next(next))
    found.push(next.toISOString());
  return found;
};

test('five fields, and six with the seconds first', () => {
  assert.deepEqual(runs('30 9 * * 1-5', 'UTC', '2026-01-02T10:00:00Z', 2), [
    '2026-01-05T09:30:00.000Z',
    '2026-01-06T09:30:00.000Z',
  ]);
  assert.deepEqual(runs('*/20 0 0 * * *', 'UTC', '2026-01-01T00:00:00Z', 3), [
    '2026-01-01T00:00:20.000Z',
    '2026-01-01T00:00:40.000Z',
    '2026-01-02T00:00:00.000Z',
  ]);
});

test('what cannot be read or never comes is refused', () => {
  for (const bad of [
    '',
    '* * * *',
    '* * * * * * *',
    '61 * * * *',
    'a b c d e',
    '0 0 31 2 *',
    '0 0 30 2 *',
    '@daily',
    '* * * * x',
  ])
    assert.equal(parseSchedule(bad, 'UTC', now), null, bad);
});

test('spaces around and between fields do not matter', () => {
  assert.ok(parseSchedule('  0   9  * * *  ', 'UTC', now));
});

test('the 29th of February comes every fourth year', () => {
  assert.deepEqual(runs('0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', 2), [
    '2028-02-29T00:00:00.000Z',
    '2032-02-29T00:00:00.000Z',
  ]);
});

test('a time zone shifts with daylight saving', () => {
  assert.deepEqual(runs('0 9 * * *', 'Europe/London', '2026-03-28T00:00:00Z', 2), [
    '2026-03-28T09:00:00.000Z',
    '2026-03-29T08:00:00.000Z',
  ]);
});

test('an hour that is skipped in spring runs once that day; one that comes twice in autumn runs once', () => {
  const spring = runs('30 1 * * *', 'Europe/London', '2026-03-28T12:00:00Z', 2);
  assert.equal(spring.filter((run) => run.startsWith('2026-03-29')).length, 1);
  const autumn = runs('30 1 * * *', 'Europe/London', '2026-10-24T12:00:00Z', 2);
  assert.equal(autumn.filter((run) => run.startsWith('2026-10-25')).length, 1);
});

test('occurrences are counted, up to a bound', () => {
  const every = parseSchedule('* * * * * *', 'UTC', now)!;
  assert.equal(every.countBetween(at('2026-01-01T00:00:00Z'), at('2026-01-01T00:00:30Z'), 1000), 30);
  assert.equal(every.countBetween(at('2026-01-01T00:00:00Z'), at('2026-02-01T00:00:00Z'), 100), 100);
});

test('time zones are known by name', () => {
  assert.deepEqual([isTimeZone('Europe/Berlin'), isTimeZone('UTC'), isTimeZone('Mars/Olympus')], [true, true, false]);
});
