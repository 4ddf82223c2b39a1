import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPatience } from './patience.ts';

const LONG = 3_600_000;
const going = new AbortController().signal;
const since = (began: number) => performance.now() - began;

test('it is over when somebody says so, and not before the least', async () => {
  const patience = createPatience(50);
  const began = performance.now();
  const waiting = [patience.wait(LONG, going), patience.wait(LONG, going)];
  patience.nudge();
  patience.nudge();
  await Promise.all(waiting);
  assert.ok(since(began) >= 45, 'who is nudged all the time does not try all the time');
  // What was said before counts for nobody who comes later.
  const later = patience.wait(LONG, going);
  setTimeout(patience.nudge, 100);
  await later;
});

test('it is over by itself, and with who waits', async () => {
  const patience = createPatience(5);
  await patience.wait(10, going);
  await patience.wait(1, going);
  const gone = new AbortController();
  const waiting = patience.wait(LONG, gone.signal);
  gone.abort();
  await waiting;
});
