import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { createMemory } from './memory.ts';

const MB = 1024 * 1024;
const LOOK_MS = 200;
const heap = (): number => getHeapStatistics().total_physical_size / MB;

/** So much that lives for a while, and then nobody needs. */
async function burst(megabytes: number): Promise<number> {
  const lists = Array.from({ length: megabytes }, (_, n) => Array.from({ length: MB / 8 }, () => n + 0.5));
  await delay(10);
  assert.equal(lists.length, megabytes);
  return heap();
}

test('what a burst left behind is given back when it is calm', async () => {
  const memory = createMemory({ lookMs: LOOK_MS });
  memory.tidy();
  const before = heap();
  const stop = memory.keepTidy();
  const most = await burst(150);
  assert.ok(most > before + 100, `a burst of ${Math.round(most - before)} MB`);
  for (const end = Date.now() + 10_000; heap() > before + 48; await delay(LOOK_MS))
    assert.ok(Date.now() < end, `${Math.round(heap() - before)} MB are still there`);
  stop();
});

test('what a start left behind is given back, and all of it once nobody waits', async () => {
  const collected: string[] = [];
  let [looked, busy, worked] = [0, true, 0];
  const stop = createMemory({
    lookMs: 10,
    worked() {
      looked += 1;
      return busy ? (worked += 5) : worked;
    },
    collect: (how) => collected.push(how),
  }).keepTidy();
  const looks = async (count: number): Promise<void> => {
    const until = looked + count;
    for (let seen = looked; seen < until; seen = looked) await delay(5);
  };
  await looks(10);
  assert.deepEqual(collected, ['regular'], 'once, in half the time, for who is busy');
  busy = false;
  await looks(10);
  stop();
  assert.deepEqual(collected, ['regular', 'last-resort']);
});
