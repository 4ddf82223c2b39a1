import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Listener } from '@troupe/db';
import { createStreams, type Stream } from './streams.ts';

const setUp = () => {
  let told: (payload: string) => void = () => undefined;
  const listener = { on: (_signal: unknown, heard: typeof told) => (told = heard) } as unknown as Listener;
  const ended: string[] = [];
  const streams = createStreams(listener, { most: 2, refusal: 'too many' });
  const stream = (name: string): Stream => ({ user: { id: 'ann', keyId: 'k' }, end: () => ended.push(name) });
  return { streams, ended, stream, tell: (payload: string) => told(payload) };
};

test('who leaves twice takes nobody along who came in between', () => {
  const { streams, ended, stream, tell } = setUp();
  const leave = streams.join(stream('first'));
  leave();
  streams.join(stream('second'));
  leave();
  streams.join(stream('third'));
  assert.throws(() => streams.join(stream('fourth')), /too many/);
  tell('key:k');
  assert.deepEqual(ended, ['second', 'third'], 'both end with the key that opened them');
});

test('a place is free again when its stream is over', () => {
  const { streams, stream } = setUp();
  const leave = streams.join(stream('a'));
  streams.join(stream('b'));
  leave();
  assert.doesNotThrow(() => streams.join(stream('c')));
  assert.equal(streams.all().length, 2);
});
