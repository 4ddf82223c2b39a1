import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { createAnswerTurns } from './in-turn.ts';

const LONG = 64 * 1024;

test('what is long is read one piece in a turn of the loop, and users take turns', async () => {
  const turns = createAnswerTurns();
  const read: string[] = [];
  const pieceOf = (user: string) => turns(user, undefined)(LONG, () => read.push(user));
  const all = [...Array.from({ length: 5 }, () => pieceOf('ada')), pieceOf('bob')];
  const each: number[] = [];
  while (read.length < all.length) {
    each.push(read.length);
    await nextTurn();
  }
  await Promise.all(all.map((one) => Promise.resolve(one)));
  assert.deepEqual(read, ['ada', 'bob', 'ada', 'ada', 'ada', 'ada']);
  const most = each.slice(1).map((count, index) => count - each[index]!);
  assert.ok(Math.max(...most) <= 1, `${most.join(' ')} in a turn`);
});

test('what is short is read at once, also while others wait', async () => {
  const turns = createAnswerTurns();
  const waiting = [turns('ada', undefined)(LONG, () => 'long'), turns('ada', undefined)(LONG, () => 'long')];
  assert.equal(
    turns('bob', undefined)(100, () => 'short'),
    'short',
  );
  assert.deepEqual(await Promise.all(waiting.map((one) => Promise.resolve(one))), ['long', 'long']);
});

test('what cannot be read fails for its own reader; who is gone does not wait, and nobody waits for it', async () => {
  const turns = createAnswerTurns();
  const broken = turns('ada', undefined)(LONG, () => {
    throw new TypeError('no UTF-8');
  });
  const gone = new AbortController();
  const left = turns('ada', gone.signal)(LONG, () => 'never');
  gone.abort(new Error('gone'));
  await assert.rejects(async () => broken, TypeError);
  await assert.rejects(async () => left, /gone/);
  assert.equal(await turns('ada', undefined)(LONG, () => 'read'), 'read');
});
