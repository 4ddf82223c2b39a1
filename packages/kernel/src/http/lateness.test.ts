import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLateness } from './lateness.ts';

test('a loop that is late again and again is late, one long turn is not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let time = 0;
  const isLate = createLateness(() => time);
  /** The timer comes after its ten milliseconds, and so much later. */
  const turn = (later: number): void => {
    time += 10 + later;
    t.mock.timers.tick(10);
  };
  assert.equal(isLate(), false);
  turn(2000);
  assert.equal(isLate(), false, 'one');
  turn(0);
  for (let n = 0; n < 4; n += 1) turn(100);
  assert.equal(isLate(), false, 'four');
  turn(100);
  assert.equal(isLate(), true, 'five');
  turn(5);
  assert.equal(isLate(), false, 'one that came in time');
  for (let n = 0; n < 6; n += 1) turn(30);
  assert.equal(isLate(), false, 'not for long');
  turn(30);
  assert.equal(isLate(), true);
  // Nobody asks any more: it is no longer looked at, and begins anew.
  for (let n = 0; n < 200; n += 1) turn(30);
  assert.equal(isLate(), false);
});
