import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { endpoint } from '@troupe/contract';
import { z } from 'zod';
import { createPlaces, type Leave } from './places.ts';
import type { User } from './principal.ts';
import { serve } from './serve.ts';
import { testServer } from './testing.ts';

/** Enters that many times; tells how many have a place so far. */
function enterOften(places: ReturnType<typeof createPlaces>, account: string, times: number): Leave[] {
  const inside: Leave[] = [];
  for (let n = 0; n < times; n += 1) places.enter(account, (leave) => inside.push(leave));
  return inside;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('alone, an account has everything', async () => {
  const places = createPlaces();
  assert.equal(enterOften(places, 'a', 100).length, 100);
});

test('while somebody else is here, four are worked on at once, and the next as one ends', async () => {
  const places = createPlaces(() => 0);
  enterOften(places, 'b', 1)[0]!();
  const inside = enterOften(places, 'a', 10);
  assert.equal(inside.length, 4);
  inside[0]!();
  inside[0]!();
  await settled();
  assert.equal(inside.length, 5);
  for (let n = 1; n < 10; n += 1) {
    inside[n]!();
    await settled();
  }
  assert.equal(inside.length, 10);
});

test('the one who comes with a single request never waits for the many of another', () => {
  const places = createPlaces(() => 0);
  enterOften(places, 'a', 50);
  assert.equal(enterOften(places, 'b', 1).length, 1);
  assert.equal(enterOften(places, 'a', 50).length, 0);
  assert.equal(enterOften(places, 'b', 1).length, 1);
});

test('what waits long for something else keeps no place', async () => {
  let time = 0;
  const places = createPlaces(() => time);
  enterOften(places, 'b', 1);
  const inside = enterOften(places, 'a', 8);
  assert.equal(inside.length, 4);
  time = 500;
  enterOften(places, 'b', 1);
  while (inside.length < 8) await settled();
});

test('who is gone does not count', () => {
  let time = 0;
  const places = createPlaces(() => time);
  enterOften(places, 'b', 1);
  assert.equal(enterOften(places, 'a', 8).length, 4);
  time = 2000;
  assert.equal(enterOften(places, 'c', 8).length, 8);
  assert.equal(enterOften(places, 'd', 8).length, 4, 'c is here');
});

test('who withdraws leaves nothing behind', async () => {
  const places = createPlaces(() => 0);
  enterOften(places, 'b', 1);
  const inside = enterOften(places, 'a', 4);
  const withdrawn = places.enter('a', () => assert.fail('it is gone'));
  const after = enterOften(places, 'a', 1);
  assert.ok(withdrawn !== true);
  withdrawn();
  withdrawn();
  inside[0]!();
  await settled();
  assert.equal(after.length, 1);
});

test('many who wait and leave at once are no tower of calls', async () => {
  const places = createPlaces(() => 0);
  enterOften(places, 'b', 1);
  const inside = enterOften(places, 'a', 4);
  let left = 0;
  for (let n = 0; n < 50_000; n += 1)
    places.enter('a', (leave) => {
      left += 1;
      leave();
    });
  inside[0]!();
  while (left < 50_000) await settled();
});

const asked = endpoint({
  service: 'web',
  summary: 'A test',
  tag: 'Test',
  method: 'POST',
  path: '/api/asked',
  auth: 'session',
  body: z.object({ how: z.enum(['well', 'throws', 'later']) }),
  reply: z.object({ ok: z.boolean() }),
});

test('a place is left however a request ends: answered, refused, broken, or gone while it waited', async () => {
  const user: User = {
    id: 'ann',
    email: 'ann@example.com',
    name: 'Ann',
    isAdmin: false,
    emailVerified: true,
    plan: null,
    subscriptionStatus: 'none',
    sessionId: 'session',
  };
  const server = testServer({ accounts: { bySession: async () => user, byKey: async () => null } });
  const later = Promise.withResolvers<void>();
  serve(server, asked, ({ body: { how } }) => {
    if (how === 'throws') throw new Error('broken');
    return how === 'later' ? later.promise.then(() => ({ ok: true })) : { ok: true };
  });
  const taken: { account: string; left: boolean; then: (leave: Leave) => void; withdrawn: boolean }[] = [];
  let isFull = false;
  const waits = new EventEmitter();
  server.places.enter = (account, then) => {
    const place = { account, left: false, then, withdrawn: false };
    taken.push(place);
    if (isFull) {
      waits.emit('waits');
      return () => {
        place.withdrawn = true;
        waits.emit('withdrawn');
      };
    }
    then(() => (place.left = true));
    return true;
  };
  const url = `${await server.listen(0, 'WEB_PORT')}/api/asked`;
  const headers = { 'content-type': 'application/json', cookie: 'svc-session=token' };
  const ask = (body: unknown, signal?: AbortSignal) =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) });
  const statuses = [await ask({ how: 'well' }), await ask({ how: 'wrong' }), await ask({ how: 'throws' })];
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [200, 400, 500],
  );
  const gone = new AbortController();
  const goes = ask({ how: 'later' }, gone.signal).catch(() => 'gone');
  while (taken.length < 4) await settled();
  gone.abort();
  assert.equal(await goes, 'gone');
  while (!taken.every(({ left }) => left)) await settled();
  later.resolve();
  isFull = true;
  const waiting = new AbortController();
  const came = once(waits, 'waits');
  const waiter = ask({ how: 'well' }, waiting.signal).catch(() => 'gone');
  await came;
  const withdrawn = once(waits, 'withdrawn');
  waiting.abort();
  await Promise.all([waiter, withdrawn]);
  assert.deepEqual(new Set(taken.map(({ account }) => account)), new Set(['user:ann']));
  await server.close();
});
