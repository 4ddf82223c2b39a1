import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { processorMs } from '@troupe/testing/machine/processor';
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

test('occurrences are counted', () => {
  const every = parseSchedule('* * * * * *', 'UTC', now)!;
  assert.equal(every.countBetween(at('2026-01-01T00:00:00Z'), at('2026-01-01T00:00:30Z')), 30);
  assert.equal(every.countBetween(at('2026-01-01T00:00:00Z'), at('2026-02-01T00:00:00Z')), 31 * 86_400);
});

test('time zones are known by name', () => {
  assert.deepEqual([isTimeZone('Europe/Berlin'), isTimeZone('UTC'), isTimeZone('Mars/Olympus')], [true, true, false]);
});

test('many missed occurrences are counted at once, and as exactly as one by one', () => {
  const field = (most: number) =>
    fc.oneof(
      fc.constantFrom('*', '*/7', '*/13'),
      fc.integer({ min: 0, max: most }).map(String),
      fc
        .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: most }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    );
  const days = fc.constantFrom('* * *', '*/2 * *', '* * 1-5', 'L * *', '* * 1#2', '1-7 3 *');
  const span = fc.tuple(fc.nat(20 * 86_400), fc.nat(3 * 86_400));
  fc.assert(
    fc.property(
      field(59),
      field(59),
      field(23),
      days,
      span,
      fc.constantFrom('UTC', 'Asia/Kolkata', 'Asia/Tokyo'),
      (s, m, h, d, [start, length], zone) => {
        const schedule = parseSchedule(`${s} ${m} ${h} ${d}`, zone, now);
        if (!schedule) return;
        const from = new Date(now.getTime() + 60 * 86_400_000 + start * 1000);
        const to = new Date(from.getTime() + length * 1000);
        let oneByOne = 0;
        for (let next = schedule.next(from); next && next <= to; next = schedule.next(next)) {
          oneByOne += 1;
          if (oneByOne > 1000) return;
        }
        assert.equal(schedule.countBetween(from, to), oneByOne, `${s} ${m} ${h} ${d} ${zone}`);
      },
    ),
    { numRuns: 60 },
  );
});

test('a task of every second that was missed for a year is counted within milliseconds', () => {
  const schedule = parseSchedule('* * * * * *', 'UTC', now)!;
  const ms = processorMs(() => assert.equal(schedule.countBetween(now, at('2027-01-01T00:00:00Z')), 365 * 86_400));
  assert.ok(ms < 200, `${ms} ms`);
});

test('a change of the clocks neither hides nor doubles more than its hour', () => {
  const schedule = parseSchedule('* * * * * *', 'Europe/London', now)!;
  const count = schedule.countBetween(at('2026-03-28T00:00:00Z'), at('2026-03-31T00:00:00Z'));
  assert.ok(Math.abs(count - 3 * 86_400) <= 3600, String(count));
});
