import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFairQueue, type FairBounds } from './fair.ts';

/** A queue whose work ends when the test says so; `order` is what started, one after the other. */
function scene(bounds: FairBounds) {
  const queue = createFairQueue(bounds);
  const order: string[] = [];
  const open: { name: string; key: string; end: () => void }[] = [];
  const refused: [string, number][] = [];
  const add = (key: string, name = key, lane?: string): Promise<void> =>
    queue
      .run(
        key,
        () => {
          const { promise, resolve } = Promise.withResolvers<void>();
          order.push(name);
          open.push({ name, key, end: resolve });
          return promise;
        },
        undefined,
        lane,
      )
      .catch((error: { status: number }) => void refused.push([name, error.status]));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  async function endOne(at = 0): Promise<void> {
    open.splice(at, 1)[0]?.end();
    await turn();
  }
  return { queue, order, open, refused, add, endOne, turn };
}

test('one key with much waiting does not hold up another: they take turns', async () => {
  const { add, order, endOne } = scene({ width: 1, waiting: 20, waitingPerKey: 10 });
  for (let n = 0; n < 5; n += 1) void add('greedy', `g${n}`);
  void add('other', 'o1');
  void add('other', 'o2');
  for (let n = 0; n < 7; n += 1) await endOne();
  assert.deepEqual(order, ['g0', 'o1', 'g1', 'o2', 'g2', 'g3', 'g4']);
});

test('a key runs no more than its share, though places are free', async () => {
  const { add, order, endOne } = scene({ width: 3, perKey: 1, waiting: 20, waitingPerKey: 10 });
  void add('a', 'a1');
  void add('a', 'a2');
  void add('b', 'b1');
  assert.deepEqual(order, ['a1', 'b1']);
  await endOne();
  assert.deepEqual(order, ['a1', 'b1', 'a2']);
});

test('lanes of a key share its places, take turns in it, and have a line each', async () => {
  const { add, order, refused, endOne, queue } = scene({ width: 2, perKey: 1, waiting: 20, waitingPerKey: 2 });
  for (let n = 0; n < 4; n += 1) void add('a', `a${n}`);
  void add('a', 'm0', 'measure');
  void add('a', 'm1', 'measure');
  void add('b', 'b0');
  // Two lanes are no second place: the other key's is free.
  assert.deepEqual(order, ['a0', 'b0']);
  for (let n = 0; n < 6; n += 1) await endOne();
  assert.deepEqual(order, ['a0', 'b0', 'a1', 'm0', 'a2', 'm1']);
  assert.deepEqual(refused, [['a3', 429]]);
  assert.deepEqual(queue.size(), { running: 0, waiting: 0 });
});

test('a key that waits too much is refused with 429, all together with 503, and the greedy give way', async () => {
  const { add, refused, queue, turn } = scene({ width: 1, waiting: 3, waitingPerKey: 3 });
  for (let n = 0; n < 5; n += 1) void add('greedy', `g${n}`);
  await turn();
  assert.deepEqual(refused, [['g4', 429]]);
  void add('b');
  await turn();
  assert.deepEqual(refused.at(-1), ['g3', 503]);
  void add('c');
  await turn();
  void add('d');
  await turn();
  assert.deepEqual(refused.slice(2), [
    ['g2', 503],
    ['d', 503],
  ]);
  assert.deepEqual(queue.size(), { running: 1, waiting: 3 });
});

test('a refusal says when to come back', async () => {
  const queue = createFairQueue({ width: 1, waiting: 0, waitingPerKey: 0 });
  void queue.run('a', () => new Promise(() => {}));
  await assert.rejects(
    queue.run('a', async () => {}),
    { status: 429, headers: { 'retry-after': '2' } },
  );
});

test('nobody waits longer than said, and a place that was waited for is free again', async () => {
  const { add, refused, order, endOne, queue } = scene({ width: 1, waiting: 3, waitingPerKey: 3, waitMs: 5 });
  void add('a', 'a1');
  await add('a', 'a2');
  assert.deepEqual(refused, [['a2', 503]]);
  await endOne();
  void add('a', 'a3');
  assert.deepEqual(order, ['a1', 'a3']);
  await endOne();
  assert.deepEqual(queue.size(), { running: 0, waiting: 0 });
});

test('a failure frees its place', async () => {
  const queue = createFairQueue({ width: 1, waiting: 1, waitingPerKey: 1 });
  await assert.rejects(
    queue.run('a', async () => {
      throw new Error('broken');
    }),
    /broken/,
  );
  assert.equal(await queue.run('a', async () => 1), 1);
});

test('whatever comes and goes: bounds hold, everything ends, and nobody is passed over', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd') }) },
    { weight: 2, arbitrary: fc.record({ end: fc.nat(5) }) },
  );
  const bounds = fc.record({
    width: fc.integer({ min: 1, max: 3 }),
    perKey: fc.integer({ min: 1, max: 3 }),
    waiting: fc.integer({ min: 0, max: 6 }),
    waitingPerKey: fc.integer({ min: 0, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(bounds, fc.array(step, { maxLength: 60 }), async (given, script) => {
      const { add, order, open, refused, queue, endOne, turn } = scene(given);
      const added: { name: string; key: string; startsBefore: number }[] = [];
      for (const [n, move] of script.entries()) {
        if ('add' in move) {
          added.push({ name: `${move.add}${n}`, key: move.add, startsBefore: order.length });
          void add(move.add, `${move.add}${n}`);
          await turn();
        } else if (open.length > 0) await endOne(move.end % open.length);
        const { running, waiting } = queue.size();
        assert.equal(running, open.length);
        assert.ok(running <= given.width && waiting <= given.waiting);
        for (const key of 'abcd')
          assert.ok(open.filter((one) => one.key === key).length <= Math.min(given.width, given.perKey));
      }
      while (open.length > 0) await endOne();
      assert.deepEqual(queue.size(), { running: 0, waiting: 0 });
      assert.equal(order.length + refused.length, added.length);
      assert.equal(new Set(order).size, order.length);
      // Of one key in the order in which they came.
      for (const key of 'abcd') {
        const own = order.filter((name) => name.startsWith(key)).map((name) => Number(name.slice(1)));
        assert.deepEqual(
          own,
          own.toSorted((a, b) => a - b),
        );
      }
      if (given.perKey < given.width) return;
      // Between two starts of a waiting key no other key starts twice more than it.
      for (const { name, key, startsBefore } of added) {
        const at = order.indexOf(name);
        if (at < 0) continue;
        const ahead = added.filter(
          (one) => one.key === key && one.name !== name && added.indexOf(one) < added.findIndex((x) => x.name === name),
        );
        const ownAhead = ahead.filter((one) => order.indexOf(one.name) >= startsBefore).length;
        for (const other of 'abcd')
          if (other !== key)
            assert.ok(order.slice(startsBefore, at).filter((one) => one.startsWith(other)).length <= ownAhead + 1);
      }
    }),
    { numRuns: 300 },
  );
});
