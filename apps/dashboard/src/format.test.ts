import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as format from './format.ts';

const { address, ago, bytes, coming, count, day, dayOf, duration, exactMoney, hourOf } = format;
const { humanise, inDollars, moment, money, percent, planName, short, time } = format;

describe('sums', () => {
  test('are read at a glance, and small ones keep two digits that say something', () => {
    assert.equal(money(1204), '$1,204.00');
    assert.equal(money('0.79'), '$0.79');
    assert.equal(money(0.0042), '$0.0042');
    assert.equal(money(0.094), '$0.094');
    assert.equal(money(0.095), '$0.10');
    assert.equal(money(0), '$0.00');
    assert.equal(money(-3.5), '-$3.50');
    assert.equal(money(-0.0042), '-$0.0042');
  });

  test('below what can be shown are nothing, and what is no number is a dash', () => {
    assert.equal(money(1e-12), '$0.00');
    for (const value of [Number.NaN, Infinity, -Infinity, 'many', '0x'] as const) assert.equal(money(value), '–');
    assert.equal(money(''), '$0.00');
  });

  test('are exact where it counts', () => {
    assert.equal(exactMoney('0.000001'), '$0.000001');
    assert.equal(exactMoney('12.345678'), '$12.345678');
    assert.equal(exactMoney(20), '$20.00');
    assert.equal(exactMoney('many'), 'many');
    assert.equal(exactMoney(5, 'EUR'), '€5.00');
  });

  test('within a sentence are found, and strangers’ digits do not run away', () => {
    assert.equal(inDollars('3.20 of 4.00 USD are spent'), '$3.20 of $4.00 are spent');
    assert.equal(inDollars('costs 5 USD'), 'costs $5.00');
    assert.equal(inDollars('no sum'), 'no sum');
    const long = `${'9'.repeat(2000)} USD`;
    assert.ok(inDollars(long).startsWith('9'.repeat(1900)));
  });
});

describe('numbers', () => {
  test('are counted, and large ones shortened', () => {
    assert.equal(count(1234567), '1,234,567');
    assert.equal(short(9999), '9,999');
    assert.equal(short(1_500_000), '1.5M');
    assert.equal(short(-20_000), '-20k');
  });

  test('percent have one digit at the most', () => {
    assert.equal(percent(33.333), '33.3 %');
    assert.equal(percent(0), '0 %');
    assert.equal(percent(Number.NaN), '–');
  });

  test('bytes have the unit that fits', () => {
    assert.equal(bytes(0), '0 B');
    assert.equal(bytes(999), '999 B');
    assert.equal(bytes(1000), '1 kB');
    assert.equal(bytes(1_234_567), '1.2 MB');
    assert.equal(bytes(5e18), '5,000,000 TB');
    assert.equal(bytes(0.5), '0.5 B');
    assert.equal(bytes(-5), '-5 B');
    assert.equal(bytes(Number.NaN), '–');
    assert.equal(bytes(Infinity), '–');
  });
});

describe('durations', () => {
  test('have the two largest parts', () => {
    assert.equal(duration(850), '850 ms');
    assert.equal(duration(4200), '4.2 s');
    assert.equal(duration(200_000), '3 min 20 s');
    assert.equal(duration(18_720_000), '5 h 12 min');
    assert.equal(duration(273_600_000), '3 d 4 h');
    assert.equal(duration(3_600_000), '1 h');
  });

  test('are not said as 1000 ms or 60 s', () => {
    assert.equal(duration(999.7), '1 s');
    assert.equal(duration(59_990), '1 min');
    assert.equal(duration(0), '0 ms');
    assert.equal(duration(-20), '-20 ms');
    for (const odd of [Number.NaN, Infinity]) assert.equal(duration(odd), '–');
  });
});

describe('times', () => {
  const now = Date.UTC(2026, 10, 16, 12, 0, 0);

  test('are told from now on and back', () => {
    assert.equal(ago(now - 3 * 60_000, now), '3 minutes ago');
    assert.equal(ago(now + 2 * 3_600_000, now), 'in 2 hours');
    assert.equal(ago(now - 86_400_000, now), 'yesterday');
    assert.equal(ago(now - 1000, now), '1 second ago');
    assert.equal(ago(now, now), 'now');
    assert.match(ago(now - 40 * 86_400_000, now), /Oct 2026$/);
  });

  test('that come are due from their moment on', () => {
    assert.equal(coming(now + 3_600_000, now), 'in 1 hour');
    assert.equal(coming(now + 500, now), 'due now');
    assert.equal(coming(now - 86_400_000, now), 'due now');
    assert.equal(coming(null, now), '–');
  });

  test('that are none are a dash, whatever shows them', () => {
    for (const shown of [moment, day, time, ago]) {
      assert.equal(shown(null), '–');
      assert.equal(shown(undefined), '–');
      assert.equal(shown('soon'), '–');
      assert.equal(shown(Number.NaN), '–');
    }
    assert.equal(hourOf('soon'), '–');
  });

  test('stand in the order that the rest has', () => {
    assert.equal(dayOf('Nov 5'), '5 Nov');
    assert.equal(dayOf('2026-11-05'), '2026-11-05');
  });
});

test('a sentence of the platform is made readable', () => {
  const told = humanise('12345 tokens, 4096 tokens, in 2026, at 2026-11-16T12:00:00Z');
  assert.match(told, /^12,345 tokens, 4,096 tokens, in 2026, at 16 Nov 2026/);
  assert.equal(humanise('at 2026-99-99T99:99Z'), 'at –');
});

test('names are short, and never cut in what is short already', () => {
  assert.equal(address('0x1234567890abcdef'), '0x1234…cdef');
  assert.equal(address('short'), 'short');
  assert.equal(planName('solo'), 'Solo');
  assert.equal(planName(''), '');
});
