import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { endpoint } from '@troupe/contract';
import { z } from 'zod';
import { AppError } from '../errors.ts';
import { createPlaces, type Leave } from './places.ts';
import type { User } from './principal.ts';
import { respond } from './reply.ts';
import { serve } from './serve.ts';
import { testServer } from '@troupe/testing/http/server';

/** Enters that many times; tells how many have a place so far. */
function enterOften(places: ReturnType<typeof createPlaces>, account: string, times: number): Leave[] {
  const inside: Leave[] = [];
  for (let n = 0; n < times; n += 1) {
    const place = places.enter(account);
    if (typeof place === 'function') inside.push(place);
    else void place.comes.then((leave) => inside.push(leave));
  }
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
  assert.equal(typeof places.enter('b'), 'function');
  assert.equal(enterOften(places, 'a', 50).length, 0);
  assert.equal(typeof places.enter('b'), 'function');
});

test('what waits long for something else keeps no place', async () => {
  let time = 0;
  const places = createPlaces(() => time);
  places.enter('b');
  const inside = enterOften(places, 'a', 8);
  assert.equal(inside.length, 4);
  time = 500;
  places.enter('b');
  while (inside.length < 8) await settled();
});

test('who is gone does not count', () => {
  let time = 0;
  const places = createPlaces(() => time);
  places.enter('b');
  assert.equal(enterOften(places, 'a', 8).length, 4);
  time = 2000;
  assert.equal(enterOften(places, 'c', 8).length, 8);
  assert.equal(enterOften(places, 'd', 8).length, 4, 'c is here');
});

test('who withdraws leaves nothing behind', async () => {
  const places = createPlaces(() => 0);
  places.enter('b');
  const inside = enterOften(places, 'a', 4);
  const turn = places.enter('a');
  const after = enterOften(places, 'a', 1);
  assert.ok(typeof turn !== 'function');
  void turn.comes.then(() => assert.fail('it is gone'));
  turn.withdraw();
  turn.withdraw();
  inside[0]!();
  await settled();
  assert.equal(after.length, 1);
});

const user: User = {
  id: 'u1',
  email: 'a@b.c',
  name: 'A',
  isAdmin: false,
  emailVerified: true,
  plan: null,
  subscriptionStatus: 'inactive',
  sessionId: 's1',
};

test('a request gives its place back however it ends', async () => {
  const server = testServer({ accounts: { bySession: async () => user, byKey: async () => null } });
  let held = 0;
  server.places.enter = () => {
    held += 1;
    let left = false;
    return () => {
      if (!left) held -= 1;
      left = true;
    };
  };
  const ways = {
    good: () => Promise.resolve({}),
    sync: () => ({}),
    refused: () => Promise.reject(new AppError(409, 'No')),
    thrown: () => {
      throw new AppError(409, 'No');
    },
    answered: () => respond({ status: 204 }),
  };
  for (const [name, handler] of Object.entries(ways))
    serve(
      server,
      endpoint({
        service: 'web',
        summary: 'A test',
        tag: 'Test',
        method: 'POST',
        path: `/api/${name}`,
        auth: 'session',
        body: z.object({ a: z.string() }),
        reply: z.object({}),
      }),
      handler,
    );
  const ask = (name: string, payload: string) =>
    server.app.inject({
      method: 'POST',
      url: `/api/${name}`,
      headers: { 'content-type': 'application/json', cookie: 'svc-session=good' },
      payload,
    });
  for (const name of Object.keys(ways))
    for (const payload of ['{"a":"b"}', '{"a":5}', '{']) {
      await ask(name, payload);
      assert.equal(held, 0, `${name} ${payload}`);
    }
});

test('who goes while it waits, or before it is answered, gives its place back', { timeout: 60_000 }, async () => {
  const server = testServer({ accounts: { bySession: async () => user, byKey: async () => null } });
  const happens = new EventEmitter();
  let mayEnter = true;
  server.places.enter = () => {
    queueMicrotask(() => happens.emit('entered'));
    if (mayEnter) return () => void happens.emit('left');
    return { comes: new Promise(() => {}), withdraw: () => void happens.emit('withdrawn') };
  };
  const { promise: never } = Promise.withResolvers<Record<string, never>>();
  const endless = endpoint({
    service: 'web',
    summary: 'A test',
    tag: 'Test',
    method: 'GET',
    path: '/api/endless',
    auth: 'session',
    reply: z.object({}),
  });
  serve(server, endless, () => never);
  const url = `${await server.listen(0, 'WEB_PORT')}/api/endless`;
  for (const end of ['left', 'withdrawn']) {
    mayEnter = end === 'left';
    const [entered, ended] = [once(happens, 'entered'), once(happens, end)];
    const gone = new AbortController();
    const asked = fetch(url, { headers: { cookie: 'svc-session=good' }, signal: gone.signal }).catch(() => 'gone');
    await entered;
    gone.abort();
    assert.equal(await asked, 'gone');
    await ended;
  }
  await server.close();
});
