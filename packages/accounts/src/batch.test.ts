import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLookup } from './batch.ts';

test('what is asked for together is loaded together, and each gets the own answer', async () => {
  const loads: string[][] = [];
  const find = createLookup(async (keys) => {
    loads.push(keys);
    return new Map(keys.filter((key) => key !== 'nobody').map((key) => [key, `found ${key}`]));
  });
  const together = await Promise.all(['a', 'b', 'a', 'nobody'].map(find));
  assert.deepEqual(together, ['found a', 'found b', 'found a', undefined]);
  assert.deepEqual(loads, [['a', 'b', 'nobody']]);
});

test('nothing is kept: a later question is loaded anew, also while an earlier one is under way', async () => {
  let value = 1;
  const waiting: (() => void)[] = [];
  const find = createLookup(async (keys) => {
    const seen = value;
    await new Promise<void>((resolve) => waiting.push(resolve));
    return new Map(keys.map((key) => [key, seen]));
  });
  const early = find('a');
  await new Promise((resolve) => setImmediate(resolve));
  value = 2;
  const late = find('a');
  await new Promise((resolve) => setImmediate(resolve));
  for (const resume of waiting) resume();
  assert.deepEqual([await early, await late], [1, 2]);
});

test('a failed load fails those who asked, and nobody after them', async () => {
  let broken = true;
  const find = createLookup(async (keys) => {
    if (broken) throw new Error('down');
    return new Map(keys.map((key) => [key, key]));
  });
  const results = await Promise.allSettled([find('a'), find('b')]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  broken = false;
  assert.equal(await find('a'), 'a');
});
