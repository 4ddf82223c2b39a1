import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createWorkerPool, type WorkerPoolOptions } from './pool.ts';
import { defineTask } from './task.ts';

const pools: { close: () => Promise<void> }[] = [];
after(() => Promise.all(pools.map((pool) => pool.close())));

function poolOf(options: WorkerPoolOptions = {}) {
  const pool = createWorkerPool(options);
  pools.push(pool);
  return pool;
}

const taskOf = <Run extends (input: never) => unknown>(source: string, deadlineMs?: number) =>
  defineTask<Run>(new URL(`data:text/javascript,export const run = ${encodeURIComponent(source)}`), deadlineMs);

const double = taskOf<(n: number) => number>('(n) => 2 * n');
const spin = taskOf<(n: number) => never>('() => { for (;;); }', 300);
const nap = taskOf<(ms: number) => number>(
  '(ms) => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms); return ms; }',
);
const fill = taskOf<(n: number) => never>('() => { const all = []; for (;;) all.push({ a: [all.length] }); }', 20_000);
const crash = taskOf<(n: number) => never>(
  '() => { setImmediate(() => { throw new Error("stray"); }); return new Promise(() => {}); }',
);
const leave = taskOf<(n: number) => never>('() => process.exit(3)');
const refuse = taskOf<(n: number) => never>(
  '() => { throw Object.assign(new RangeError("no such thing"), { code: "ENOENT" }); }',
);
const nothing = taskOf<(n: number) => () => void>('() => () => {}');

test('answers, and starts no thread before the first task', async () => {
  const pool = poolOf();
  assert.equal(pool.threads(), 0);
  assert.equal(await pool.run(double, 21, { key: 'a' }), 42);
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map((n) => pool.run(double, n, { key: 'a' }))), [2, 4, 6, 8, 10]);
  assert.equal(pool.threads(), 1, 'one key does not get every thread');
});

test('what a task throws arrives with its name and code, and the thread works on', async () => {
  const pool = poolOf({ threads: 1 });
  await assert.rejects(pool.run(refuse, 0, { key: 'a' }), {
    name: 'RangeError',
    message: 'no such thing',
    code: 'ENOENT',
  });
  await assert.rejects(pool.run(nothing, 0, { key: 'a' }), { name: 'DataCloneError' });
  await assert.rejects(pool.run(double, (() => {}) as unknown as number, { key: 'a' }), { name: 'DataCloneError' });
  assert.equal(await pool.run(double, 1, { key: 'a' }), 2);
});

test('a task that takes too long is ended with a sentence, and the next one gets a new thread', async () => {
  const pool = poolOf({ threads: 1 });
  await assert.rejects(pool.run(spin, 0, { key: 'a' }), {
    status: 422,
    message: 'This took more than 0.3 s to compute and was stopped. Ask for less at once.',
  });
  assert.equal(await pool.run(double, 1, { key: 'a' }), 2);
});

test('one that had no processor is given its time again, and not for ever', async () => {
  const pool = poolOf({ threads: 1 });
  const brief = { ...nap, deadlineMs: 1000 };
  assert.equal(await pool.run(brief, 1500, { key: 'a' }), 1500);
  await assert.rejects(pool.run(brief, 60_000, { key: 'a' }), { status: 422 });
});

test('a task that takes too much memory is ended with a sentence, and the process lives', async () => {
  const pool = poolOf({ threads: 1, memoryMb: 32 });
  await assert.rejects(pool.run(fill, 0, { key: 'a' }), { status: 422, message: /too much memory/ });
  assert.equal(await pool.run(double, 1, { key: 'a' }), 2);
});

test('a thread that breaks takes its own task with it only', async () => {
  const pool = poolOf();
  const slow = pool.run(nap, 300, { key: 'b' });
  await assert.rejects(pool.run(crash, 0, { key: 'a' }), /stray/);
  await assert.rejects(pool.run(leave, 0, { key: 'a' }), /The work broke off/);
  assert.equal(await slow, 300);
  assert.equal(await pool.run(double, 1, { key: 'a' }), 2);
});

test('one with many slow tasks holds up nobody else', async () => {
  const pool = poolOf();
  const order: string[] = [];
  const slow = Array.from({ length: 20 }, () =>
    pool.run(nap, 100, { key: 'greedy' }).then(() => void order.push('greedy')),
  );
  await Promise.all(['b', 'c', 'd'].map((key) => pool.run(double, 1, { key }).then(() => void order.push(key))));
  assert.ok(order.filter((key) => key === 'greedy').length <= 5, order.join(' '));
  await Promise.all(slow);
});

test('keys take turns where all threads are busy', async () => {
  const pool = poolOf({ threads: 1 });
  const order: string[] = [];
  const ask = (key: string) => pool.run(double, 1, { key }).then(() => void order.push(key));
  await Promise.all([...Array.from({ length: 4 }, () => ask('a')), ask('b'), ask('b'), ask('c')]);
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'a', 'a']);
});

test('more than may wait of one key are refused with a sentence, those of others are not', async () => {
  const pool = poolOf({ threads: 1, waitingPerKey: 2, waiting: 4 });
  const slow = pool.run(nap, 200, { key: 'a' });
  const waiting = [1, 2].map((n) => pool.run(double, n, { key: 'a' }));
  await assert.rejects(pool.run(double, 3, { key: 'a' }), { status: 429 });
  const others = [1, 2].map((n) => pool.run(double, n, { key: 'b' }));
  // One more key: the newest of who has most waiting gives way.
  const late = pool.run(double, 3, { key: 'c' });
  const settled = await Promise.allSettled([slow, ...waiting, ...others, late]);
  assert.deepEqual(
    settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as { status: number }).status)),
    [200, 2, 503, 2, 4, 6],
  );
});

test('nobody waits for ever', async () => {
  const pool = poolOf({ threads: 1, waitMs: 50 });
  const slow = pool.run(nap, 500, { key: 'a' });
  await assert.rejects(pool.run(double, 1, { key: 'b' }), { status: 503, message: /busy/ });
  assert.equal(await slow, 500);
});

test('what is given up is stopped, whether it waits or runs', async () => {
  const pool = poolOf({ threads: 1 });
  const running = new AbortController();
  const waiting = new AbortController();
  const first = pool.run(nap, 60_000, { key: 'a', signal: running.signal });
  const second = pool.run(double, 1, { key: 'b', signal: waiting.signal });
  waiting.abort(new Error('not wanted'));
  await assert.rejects(second, /not wanted/);
  running.abort(new Error('cancelled'));
  await assert.rejects(first, /cancelled/);
  await assert.rejects(pool.run(double, 1, { key: 'a', signal: AbortSignal.abort(new Error('before')) }), /before/);
  assert.equal(await pool.run(double, 1, { key: 'a' }), 2);
});

test('threads end when idle and start again when needed', async () => {
  const pool = poolOf({ idleMs: 1 });
  await pool.run(double, 1, { key: 'a' });
  while (pool.threads() > 0) await delay(1);
  assert.equal(await pool.run(double, 2, { key: 'a' }), 4);
});

test('closing ends what runs and what waits, and takes nothing new', async () => {
  const pool = poolOf({ threads: 1 });
  const all = [pool.run(nap, 60_000, { key: 'a' }), pool.run(double, 1, { key: 'a' })];
  const settled = Promise.allSettled(all);
  await pool.close();
  assert.deepEqual(
    (await settled).map((one) => one.status),
    ['rejected', 'rejected'],
  );
  await assert.rejects(pool.run(double, 1, { key: 'a' }), { status: 503, message: 'The platform is stopping' });
  assert.equal(pool.threads(), 0);
});

test('two that take long leave a third its turn, and their own next ones wait', async () => {
  const pool = poolOf({ threads: 2 });
  const long = ['a', 'b'].map((key) => pool.run(nap, 4000, { key }));
  const began = performance.now();
  const own = pool.run(double, 1, { key: 'a' }).then(() => performance.now() - began);
  assert.equal(await pool.run(double, 4, { key: 'c' }), 8);
  const waited = performance.now() - began;
  assert.ok(waited < 3500, `somebody else waited ${Math.round(waited)} ms`);
  assert.deepEqual(await Promise.all(long), [4000, 4000]);
  assert.ok((await own) > 3900, 'one key has one thread, however long it has it');
});

test('there are only so many threads', async () => {
  const pool = poolOf({ threads: 2, most: 3 });
  const long = ['a', 'b', 'c'].map((key) => pool.run(nap, 4000, { key }));
  assert.equal(await pool.run(double, 4, { key: 'd' }), 8);
  assert.equal(pool.threads(), 3);
  await Promise.all(long);
});
