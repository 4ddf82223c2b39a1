import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatAmount, parseAmount, splitByLargestRemainder } from './money.ts';

test('amounts are read exactly or not at all', () => {
  assert.equal(parseAmount('1.25', 6), 1_250_000n);
  assert.equal(parseAmount('0.000001', 6), 1n);
  assert.equal(parseAmount('100', 2), 10_000n);
  for (const bad of ['', '-1', '1,5', ' 1', '1 ', '1e21', 'NaN', 'Infinity', '0.0000001', '.5', '1.', '0x1'])
    assert.equal(parseAmount(bad, 6), null, bad);
});

test('writing and reading an amount gives it back', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      fc.integer({ min: 0, max: 18 }),
      (units, decimals) => parseAmount(formatAmount(units, decimals, 0), decimals) === units,
    ),
  );
});

test('amounts are written for people', () => {
  assert.deepEqual(
    [formatAmount(8_750_000n, 6), formatAmount(0n, 6), formatAmount(-1n, 6), formatAmount(5n, 0, 0)],
    ['8.75', '0.00', '-0.000001', '5'],
  );
});

test('parts sum to the whole and differ from their share by less than one unit', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      fc.array(fc.bigInt({ min: 0n, max: 10_000n }), { minLength: 1, maxLength: 200 }),
      (total, weights) => {
        const sum = weights.reduce((a, b) => a + b, 0n);
        fc.pre(sum > 0n);
        const parts = splitByLargestRemainder(total, weights);
        assert.equal(
          parts.reduce((a, b) => a + b, 0n),
          total,
        );
        for (const [index, part] of parts.entries()) {
          const floor = (total * weights[index]!) / sum;
          assert.ok(part === floor || part === floor + 1n);
        }
      },
    ),
  );
});
