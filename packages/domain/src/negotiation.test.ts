import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { moveAmplify, moveBooking, parseShare, splitShares, type AmplifyState, type BookingState } from './index.ts';

describe('bookings', () => {
  const move = fc.constantFrom('counter', 'accept', 'decline');
  const moves = fc.array(fc.record({ move, by: fc.constantFrom('a', 'b') }), { maxLength: 30 });

  test('whatever two agents say, they take turns, and an end is an end', () => {
    fc.assert(
      fc.property(moves, (said) => {
        let state: BookingState = { status: 'offered', lastBy: 'a' };
        for (const step of said) {
          const next = moveBooking(state, step.move, step.by);
          const isOver = state.status === 'accepted' || state.status === 'declined';
          assert.equal('refused' in next, isOver || step.by === state.lastBy);
          if (!('refused' in next)) state = next;
        }
      }),
    );
  });
});

describe('amplification', () => {
  test('goes from requested to accepted to done, by the one that was asked', () => {
    const requested: AmplifyState = { status: 'requested', asked: 'b' };
    assert.deepEqual(moveAmplify(requested, 'accept', 'a'), { refused: 'Waiting for the other side' });
    assert.deepEqual(moveAmplify(requested, 'done', 'b'), { refused: 'Amplification is requested' });
    assert.deepEqual(moveAmplify(requested, 'accept', 'b'), { status: 'accepted' });
    assert.deepEqual(moveAmplify({ ...requested, status: 'accepted' }, 'done', 'b'), { status: 'done' });
    assert.deepEqual(moveAmplify({ ...requested, status: 'done' }, 'done', 'b'), { refused: 'Amplification is done' });
  });
});

describe('shares', () => {
  const exact = (...shares: number[]) => shares.map((share) => parseShare(share)!);

  test('are exact: 33.33 three times is within 0.01, 99.98 is not', () => {
    assert.deepEqual(splitShares(100n, exact(33.33, 33.33, 33.33)), { parts: [34n, 33n, 33n] });
    assert.deepEqual(splitShares(100n, exact(99.98)), { refused: 'Recipient shares must total 100% (got 99.98%)' });
    assert.deepEqual(splitShares(1n, exact(0.1, 0.2)), { refused: 'Recipient shares must total 100% (got 0.3%)' });
  });

  test('no share is negative, zero, above 100 or not a plain number', () => {
    for (const share of [0, -1, 100.000001, NaN, Infinity, 1e21, 1e-9]) assert.equal(parseShare(share), null);
  });

  test('any total is divided without a rest, and nobody is off by a whole unit', () => {
    const shares = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 11 });
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), shares, (total, given) => {
        const all = [...given, 10_000 - given.reduce((a, b) => a + b, 0)].filter((share) => share > 0);
        const divided = splitShares(total, exact(...all.map((share) => share / 100)));
        assert.ok('parts' in divided);
        assert.equal(
          divided.parts.reduce((a, b) => a + b, 0n),
          total,
        );
        for (const [index, part] of divided.parts.entries()) {
          const off = part * 10_000n - total * BigInt(all[index]!);
          assert.ok(off < 10_000n && off > -10_000n);
        }
      }),
    );
  });
});
