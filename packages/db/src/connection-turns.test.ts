import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionTurns } from './connection-turns.ts';

test('who asks for one thing waits for one of each other, not for all that one asked for', async () => {
  const turns = new ConnectionTurns(2, 10_000);
  assert.equal(turns.take('ada'), undefined);
  assert.equal(turns.take('ada'), undefined);
  const order: string[] = [];
  const wait = (whose: string) => turns.take(whose)!.then(() => order.push(whose));
  const all = [...Array.from({ length: 5 }, () => wait('ada')), wait('bob'), wait(''), wait('bob')];
  assert.equal(turns.waiting, 8);
  for (let left = 0; left < 8; left += 1) turns.leave();
  await Promise.all(all);
  assert.deepEqual(order, ['ada', 'bob', '', 'ada', 'bob', 'ada', 'ada', 'ada']);
  assert.equal(turns.waiting, 0);
  turns.leave();
  turns.leave();
  assert.equal(turns.take('ada'), undefined);
  assert.equal(turns.take('bob'), undefined);
  const eve = turns.take('eve');
  assert.notEqual(eve, undefined);
  turns.leave();
  await eve;
});

test('nobody waits for longer than is said, and whoever gave up takes no connection', async () => {
  const turns = new ConnectionTurns(1, 50);
  assert.equal(turns.take('ada'), undefined);
  await assert.rejects(turns.take('ada')!, { status: 503 });
  await assert.rejects(turns.take('bob')!, { status: 503 });
  assert.equal(turns.waiting, 0);
  turns.leave();
  assert.equal(turns.take('bob'), undefined);
});
