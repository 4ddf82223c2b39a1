import assert from 'node:assert/strict';
import { test } from 'node:test';
import { totalWith } from './payment-total.ts';

test('what a day comes to with a payment, to the last digit, and what is left of its limit', () => {
  assert.equal(totalWith('3.00', { perDay: null, spent: '0.10' }), 'With it, $3.10 in 24 hours.');
  assert.equal(
    totalWith('0.20', { perDay: '1.00', spent: '0.10' }),
    'With it, $0.30 of $1.00 in 24 hours; $0.70 would be left.',
  );
  assert.equal(
    totalWith('0.000001', { perDay: '1.00', spent: '1.00' }),
    'With it, $1.000001 in 24 hours: more than its limit of $1.00, so it cannot be paid now.',
  );
  assert.match(totalWith('0.9', { perDay: '1.00', spent: '0.10' }), /\$0\.00 would be left/);
});
