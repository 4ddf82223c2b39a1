import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { needs } from '@troupe/testing/machine/needs';
import { memoryCounters, redisCounters, type Counters } from './counters.ts';
import { randomHex } from './ids.ts';
import { createLog, silentLog } from './log.ts';
import { systemClock } from './time.ts';

const key = () => `test:${randomHex(8)}`;

/** What both kinds promise. */
function suite(open: () => Promise<Counters>): void {
  test('counts within a window, and begins again after it', async () => {
    const counters = await open();
    const one = key();
    const counts = [];
    for (let n = 0; n < 3; n += 1) counts.push((await counters.hit(one, 300)).count);
    assert.deepEqual(counts, [1, 2, 3]);
    assert.equal((await counters.peek(one))?.count, 3);
    const { resetsInMs } = await counters.hit(one, 300);
    assert.ok(resetsInMs > 0 && resetsInMs <= 300);
    await delay(350);
    assert.equal(await counters.peek(one), null);
    assert.equal((await counters.hit(one, 300)).count, 1);
    await counters.close();
  });

  test('keys do not mix, and one can be cleared', async () => {
    const counters = await open();
    const [a, b] = [key(), key()];
    await counters.hit(a, 60_000);
    assert.equal((await counters.hit(b, 60_000)).count, 1);
    await counters.clear(a);
    assert.equal((await counters.hit(a, 60_000)).count, 1);
    await counters.close();
  });

  test('a hundred at once are a hundred', async () => {
    const counters = await open();
    const one = key();
    const hits = await Promise.all(Array.from({ length: 100 }, async () => counters.hit(one, 60_000)));
    assert.equal(Math.max(...hits.map(({ count }) => count)), 100);
    assert.equal(new Set(hits.map(({ count }) => count)).size, 100);
    await counters.close();
  });
}

describe('counters in the process', () => {
  suite(() => Promise.resolve(memoryCounters(systemClock)));

  test('windows that have ended do not stay in memory', () => {
    let now = new Date(0);
    const counters = memoryCounters(() => now);
    for (let n = 0; n < 10_000; n += 1) void counters.hit(`old${n}`, 1000);
    now = new Date(2000);
    void counters.hit('new', 1000);
    assert.equal(counters.peek('old1'), null);
  });
});

describe('counters in Redis', { skip: needs('redis-server') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-redis-'));
  const socket = join(folder, 'redis.sock');
  let redis: ChildProcess;
  before(async () => {
    redis = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder], {
      stdio: 'ignore',
    });
    while (!existsSync(socket)) await delay(20);
  });
  after(() => {
    redis.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const open = async () => {
    const counters = await redisCounters(socket, silentLog, systemClock);
    while (!(await counters.healthy())) await delay(10);
    return counters;
  };
  suite(open);

  test('two processes count together', async () => {
    const [one, two] = [await open(), await open()];
    const shared = key();
    await one.hit(shared, 60_000);
    assert.equal((await two.hit(shared, 60_000)).count, 2);
    await one.close();
    await two.close();
  });
});

test('while Redis does not answer each process counts for itself, and says so once', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', service: 'test', destination: { write: (line) => lines.push(line) } });
  // It lets nobody in, again and again.
  const closed = createServer((socket) => socket.resetAndDestroy());
  await once(closed.listen(0, '127.0.0.1'), 'listening');
  const { port } = closed.address() as AddressInfo;
  const counters = await redisCounters(`redis://127.0.0.1:${port}`, log, systemClock);
  const one = key();
  assert.equal((await counters.hit(one, 60_000)).count, 1);
  assert.equal((await counters.hit(one, 60_000)).count, 2);
  assert.equal(await counters.healthy(), false);
  for (let tries = 0; tries < 3; tries += 1) await once(closed, 'connection');
  assert.equal(lines.length, 1);
  await counters.close();
  closed.close();
});
