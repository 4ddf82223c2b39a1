import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eachOf, madeOf, pulled } from './each.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function thing(seen: (thing: WeakRef<object>) => void): object {
  const made = { large: 'x' };
  seen(new WeakRef(made));
  return made;
}

/** Gives one thing, and then nothing until it is told to end. */
async function* oneThing(seen: (thing: WeakRef<object>) => void, asked: () => void, end: Promise<void>) {
  yield thing(seen);
  asked();
  await end;
}

test('what was passed on is forgotten while the next is waited for', async () => {
  let given: WeakRef<object> | undefined;
  const [asked, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const passing = eachOf(
    oneThing((seen) => (given = seen), asked.resolve, end.promise),
    () => {},
  );
  await asked.promise;
  await forgotten(() => given);
  end.resolve();
  await passing;
});

/** Fails when it is still there after the garbage was collected. */
async function forgotten(given: () => WeakRef<object> | undefined): Promise<void> {
  for (let n = 0; n < 20 && given()?.deref(); n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  const found = given();
  assert.ok(found && found.deref() === undefined, 'it is still held');
}

test('what was made of it is forgotten, too, also through several', async () => {
  let given: WeakRef<object> | undefined;
  let made: WeakRef<object> | undefined;
  const [asked, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const things = oneThing((seen) => (given = seen), asked.resolve, end.promise);
  const wrapped = madeOf(things, (one) => {
    const other = { one };
    made = new WeakRef(other);
    return [other];
  });
  const passing = eachOf(
    madeOf(wrapped, (one) => [one]),
    () => {},
  );
  await asked.promise;
  await forgotten(() => given);
  await forgotten(() => made);
  end.resolve();
  await passing;
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('of what is made there may be none or several, in order; it ends once, however it ends', async () => {
  const ends: string[] = [];
  async function* numbers() {
    try {
      yield* [1, 2, 3, 4];
    } finally {
      ends.push('numbers');
    }
  }
  const odd = () => madeOf(numbers(), (n) => (n % 2 === 0 ? [] : [n, -n]));
  assert.deepEqual(await all(odd()), [1, -1, 3, -3]);
  for await (const n of odd()) if (n === 1) break;
  assert.deepEqual(ends, ['numbers', 'numbers']);
  const failing = madeOf(numbers(), () => {
    throw new Error('no such number');
  });
  await assert.rejects(failing.next(), /no such number/);
  assert.deepEqual([await failing.next(), ends.length], [{ done: true, value: undefined }, 3]);

  let left = 3;
  const counted = pulled(
    async () => (left > 0 ? left-- : undefined),
    () => void ends.push('counted'),
  );
  assert.deepEqual(await all(counted), [3, 2, 1]);
  await counted.return?.();
  assert.equal(ends.filter((one) => one === 'counted').length, 1);
});

test('who has enough leaves the rest', async () => {
  let isLeft = false;
  async function* numbers() {
    try {
      for (let n = 0; ; n += 1) yield n;
    } finally {
      isLeft = true;
    }
  }
  const heard: number[] = [];
  await eachOf(numbers(), (n) => heard.push(n) === 3);
  assert.deepEqual([heard, isLeft], [[0, 1, 2], true]);
});

test('it comes in order, and who fails lets go of the rest', async () => {
  let left = false;
  async function* numbers() {
    try {
      for (let n = 0; ; n += 1) yield n;
    } finally {
      left = true;
    }
  }
  const heard: number[] = [];
  const failing = eachOf(numbers(), async (n) => {
    heard.push(n);
    if (n === 3) throw new Error('enough');
  });
  await assert.rejects(failing, /enough/);
  assert.deepEqual([heard, left], [[0, 1, 2, 3], true]);
  async function* few() {
    yield* [1, 2];
  }
  const some: number[] = [];
  await eachOf(few(), (n) => void some.push(n));
  assert.deepEqual(some, [1, 2]);
});
