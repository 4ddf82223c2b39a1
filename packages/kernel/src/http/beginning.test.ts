import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBeginnings } from './beginning.ts';

const turn = (): Promise<void> => new Promise(setImmediate);

test('whoever is alone begins all that fits into a turn, and the rest in the next ones', async () => {
  const beginnings = createBeginnings(() => 0);
  let begun = 0;
  for (let n = 0; n < 70; n += 1) beginnings.begin(1, () => (begun += 1));
  assert.equal(begun, 32);
  await turn();
  assert.equal(begun, 64);
  await turn();
  assert.equal(begun, 70);
});

test('while others are here a few of one begin in a turn, and one of somebody else before the rest', async () => {
  let time = 0;
  const beginnings = createBeginnings(() => time);
  const order: string[] = [];
  const ask = (client: number, times: number): void => {
    for (let n = 0; n < times; n += 1) beginnings.begin(client, () => order.push(`${client}`));
  };
  ask(2, 1);
  ask(1, 10);
  assert.equal(order.join(''), '21111');
  ask(3, 2);
  assert.equal(order.join(''), '2111133', 'nobody waits behind the other');
  time = 40;
  await turn();
  assert.equal(order.join(''), '21111331111');
  assert.equal(beginnings.waited(), 40);
  ask(1, 3);
  ask(4, 6);
  await turn();
  // One after the other, as long as both have something.
  assert.equal(order.join('').slice(11), '4444141411');
  await turn();
  assert.equal(order.join('').slice(21), '1');
  await turn();
  assert.equal(beginnings.waited(), 0);
});

test('one that was here long ago is not here', () => {
  let time = 0;
  const beginnings = createBeginnings(() => time);
  let begun = 0;
  beginnings.begin(2, () => {});
  time = 2000;
  for (let n = 0; n < 10; n += 1) beginnings.begin(1, () => (begun += 1));
  assert.equal(begun, 10);
});
