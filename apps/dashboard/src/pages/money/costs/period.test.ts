import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayLabel, lengthOf, periodOf } from './period.ts';

const NOW = new Date('2026-03-01T00:30:00Z');
const of = (search: Record<string, string>) => {
  const { key, from, to } = periodOf(search, NOW);
  return [key, from, to];
};

describe('a period of days', () => {
  test('ends today, in UTC, and counts today', () => {
    assert.deepEqual(of({}), ['7d', '2026-02-23', '2026-03-01']);
    assert.deepEqual(of({ period: '30d' }), ['30d', '2026-01-31', '2026-03-01']);
    assert.equal(lengthOf(periodOf({ period: '30d' }, NOW)), 30);
  });

  test('is a month, the one before, or a year of months, over the ends of years', () => {
    assert.deepEqual(of({ period: 'mtd' }), ['mtd', '2026-03-01', '2026-03-01']);
    assert.deepEqual(of({ period: 'last' }), ['last', '2026-02-01', '2026-02-28']);
    assert.deepEqual(of({ period: '12m' }), ['12m', '2025-04-01', '2026-03-01']);
    const january = periodOf({ period: 'last' }, new Date('2026-01-15T12:00:00Z'));
    assert.deepEqual([january.from, january.to], ['2025-12-01', '2025-12-31']);
  });

  test('of one’s own is cut to a year, from its end', () => {
    const own = (from: string, to: string) => of({ period: 'own', from, to });
    assert.deepEqual(own('2026-01-05', '2026-01-05'), ['own', '2026-01-05', '2026-01-05']);
    assert.deepEqual(own('2020-01-01', '2026-01-01'), ['own', '2025-01-01', '2026-01-01']);
  });

  test('that makes no sense is seven days', () => {
    const usual = of({});
    const wrong = [
      ['2026-02-01', '2026-01-01'],
      ['2026-13-01', '2026-14-01'],
      ['yesterday', 'today'],
      ['', ''],
    ];
    for (const [from = '', to = ''] of wrong) assert.deepEqual(of({ period: 'own', from, to }), usual);
    assert.deepEqual(of({ period: 'own' }), usual);
    assert.deepEqual(of({ period: 'for ever' }), usual);
  });

  test('has days that are the same wherever the page is looked at', () => {
    assert.equal(dayLabel('2026-11-15'), '15 Nov');
  });
});
