import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/** 150 connections of one address, with another e-mail each time, locked everybody out of sign-in with 503. */
let scene: Scene;
before(async () => {
  scene = await startScene();
});
after(() => scene.stop());

const from = (address: string) => ({
  authorization: `Bearer ${TEST_SECRETS.internalKey}`,
  'x-client-ip': address,
});
const account = { email: 'ada@example.com', password: 'correct horse battery' };
const login = (address: string, given: object = account) =>
  send(`${scene.web}/api/auth/login`, 'POST', given, from(address));

test('whoever hammers at the door from one address is sent away, and the others come in', async () => {
  assert.equal((await send(`${scene.web}/api/register`, 'POST', account, from('10.9.9.9'))).status, 200);
  const statuses = new Map<number, number>();
  let guesses = 0;
  const done = new AbortController();
  const hammer = async (): Promise<void> => {
    while (!done.signal.aborted) {
      const { status } = await login('10.6.6.6', { email: `g${(guesses += 1)}@example.com`, password: 'wrong' });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // What is asked here is who gets in, not how many requests this machine can refuse in a second.
      if (status !== 401) await delay(1_000);
    }
  };
  await scene.unharmed(async () => {
    const hammering = Array.from({ length: 150 }, hammer);
    try {
      for (let n = 0; n < 10; n += 1) {
        const began = performance.now();
        assert.equal((await login(`10.7.7.${n}`)).status, 200);
        assert.ok(
          performance.now() - began < 5_000,
          `somebody else waited ${performance.now() - began} ms at the door`,
        );
      }
    } finally {
      done.abort();
      await Promise.all(hammering);
    }
  });
  assert.deepEqual(
    [...statuses.keys()].filter((status) => status !== 401 && status !== 429),
    [],
  );
  assert.ok((statuses.get(401) ?? 0) <= 60, 'one address guesses at most 60 times a minute');
});
