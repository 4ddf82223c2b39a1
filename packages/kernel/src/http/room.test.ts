import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createRoom, MUCH } from './room.ts';

function watched(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let time = 0;
  const load = { underWay: 1000, waited: 0 };
  const room = createRoom({ underWay: () => load.underWay, waited: () => load.waited, now: () => time });
  /** The timer comes after its ten milliseconds, and so much later. */
  const turn = (later: number, times = 1): void => {
    for (let n = 0; n < times; n += 1) {
      time += 10 + later;
      t.mock.timers.tick(10);
    }
  };
  assert.equal(room(), Infinity);
  return { room, turn, load };
}

test('there is less room when the loop is late again and again, not after one long turn', (t) => {
  const { room, turn } = watched(t);
  turn(2000);
  assert.equal(room(), Infinity, 'one');
  turn(0);
  turn(100, 4);
  assert.equal(room(), Infinity, 'four');
  turn(100);
  assert.equal(room(), 900, 'five');
  turn(100);
  assert.equal(room(), 810);
  turn(5);
  assert.ok(room() > 810 && room() < 820, 'a little more after one that came in time');
  turn(0);
  const before = room();
  turn(30, 6);
  assert.equal(room(), before, 'not for long');
  turn(30);
  assert.ok(room() < before);
});

test('what waits until it begins says the same as a loop that is late', (t) => {
  const { room, turn, load } = watched(t);
  load.waited = 200;
  turn(0, 24);
  assert.equal(room(), Infinity);
  turn(0, 3);
  assert.ok(room() < 1000);
});

test('it ends at what is always done, grows slowly, and is forgotten when nobody asks', (t) => {
  const { room, turn, load } = watched(t);
  for (let n = 0; n < 60; n += 1) {
    turn(100);
    room();
  }
  assert.equal(room(), MUCH);
  load.underWay = 300;
  for (let n = 0; n < 350; n += 1) {
    turn(0);
    room();
  }
  assert.ok(room() > 1.9 * MUCH && room() < 2.1 * MUCH, 'three and a half seconds');
  turn(0, 150);
  assert.equal(room(), Infinity, 'nobody has asked for a second');
});
