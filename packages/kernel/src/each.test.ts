import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eachOf } from './each.ts';

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
  for (let n = 0; n < 20 && given?.deref(); n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  assert.ok(given && given.deref() === undefined, 'it is still held');
  end.resolve();
  await passing;
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
  const all: number[] = [];
  await eachOf(few(), (n) => void all.push(n));
  assert.deepEqual(all, [1, 2]);
});
