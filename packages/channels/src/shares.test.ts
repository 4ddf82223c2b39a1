import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createShares, type Place, type Shares } from './shares.ts';

/** Processes that share channels: leases in a map, and time that a test moves. */

const TURN_MS = 5_000;

interface Process {
  shares: Shares;
  /** Asks for the lease of each, as whoever listens does. */
  over: AbortController;
  told: number;
}

function start(channels: number) {
  const leases = new Map<string, Process>();
  const names = Array.from({ length: channels }, (_, n) => `c${n}`);
  const processes: Process[] = [];
  let time = 0;
  /** Held at the same time by two, ever. */
  let asked = 0;
  const moved = { count: 0 };

  function listenAt(own: Process, name: string, place: Place): void {
    const go = async (): Promise<void> => {
      while (!own.over.signal.aborted) {
        await place.turn(own.over.signal);
        if (own.over.signal.aborted) return;
        asked += 1;
        if (leases.has(name)) continue;
        leases.set(name, own);
        moved.count += 1;
        const over = Promise.withResolvers<void>();
        const leave = place.hold(over.resolve);
        own.over.signal.addEventListener('abort', () => over.resolve());
        await over.promise;
        leases.delete(name);
        leave();
      }
    };
    void go();
  }
  function join(): Process {
    const own: Process = {
      told: 0,
      over: new AbortController(),
      shares: createShares({ now: () => time, left: () => (own.told += 1) }),
    };
    processes.push(own);
    for (const name of names) listenAt(own, name, own.shares.place(name));
    return own;
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  async function turn(backends = processes.length, settled = backends): Promise<void> {
    time += TURN_MS;
    for (const { shares } of processes) {
      shares.look(new Map(names.map((name) => [name, !leases.has(name)])), { alive: backends, settled });
      await settle();
    }
  }
  function leave(one: Process): void {
    processes.splice(processes.indexOf(one), 1);
    one.over.abort();
  }
  const held = () => processes.map(({ shares }) => shares.held());
  return { join, turn, leave, held, leases, moved, asked: () => asked, settle };
}

test('one alone has all at its first look, and nobody asks for what is held', async () => {
  const { join, turn, held, asked } = start(30);
  join();
  await turn();
  assert.deepEqual([held(), asked()], [[30], 30]);
  for (let n = 0; n < 20; n += 1) await turn();
  assert.deepEqual([held(), asked()], [[30], 30]);
});

test('one that comes gets its share, half of what is missing at a time, and then nothing moves', async () => {
  const { join, turn, held, moved } = start(30);
  const first = join();
  await turn();
  join();
  await turn();
  await turn();
  assert.ok(held()[1]! >= 8, held().join());
  for (let n = 0; n < 6; n += 1) await turn();
  assert.deepEqual(held(), [15, 15]);
  assert.ok(first.told > 0, 'others hear of it');
  join();
  for (let n = 0; n < 10; n += 1) await turn();
  assert.deepEqual(held(), [10, 10, 10]);
  const before = moved.count;
  for (let n = 0; n < 20; n += 1) await turn();
  assert.equal(moved.count, before);
});

test('what one leaves is taken at the second look, though nobody knows yet that it is gone', async () => {
  const { join, turn, leave, held, settle } = start(30);
  const gone = join();
  join();
  join();
  for (let n = 0; n < 6; n += 1) await turn();
  assert.deepEqual(held(), [10, 10, 10]);
  leave(gone);
  await settle();
  await turn(3);
  await turn(3);
  assert.equal(
    held().reduce((sum, own) => sum + own, 0),
    30,
  );
  for (let n = 0; n < 10; n += 1) await turn(2);
  assert.deepEqual(held(), [15, 15]);
});

test('what nobody takes comes back, and is let go ever more seldom', async () => {
  const { join, turn, held, moved } = start(20);
  join();
  await turn(1);
  // another is alive, and takes nothing
  for (let n = 0; n < 100; n += 1) await turn(2);
  assert.ok(moved.count < 20 + 10 * 8, `${moved.count}`);
  for (let n = 0; n < 5; n += 1) await turn(1);
  assert.deepEqual(held(), [20]);
  const before = moved.count;
  // one that is only coming up is given nothing
  for (let n = 0; n < 20; n += 1) await turn(2, 1);
  assert.equal(moved.count, before);
});
