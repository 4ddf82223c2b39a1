import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { endpoint } from '@troupe/contract';
import { z } from 'zod';
import { AppError } from '../errors.ts';
import { AT_ONCE, createPlaces, type Leave, type Turn } from './places.ts';
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

test('while somebody else is here, few are worked on at once, and the next as one ends', async () => {
  const places = createPlaces(Infinity, () => 0);
  enterOften(places, 'b', 1)[0]!();
  const inside = enterOften(places, 'a', 10);
  assert.equal(inside.length, AT_ONCE);
  inside[0]!();
  inside[0]!();
  await settled();
  assert.equal(inside.length, AT_ONCE + 1);
  for (let n = 1; n < 10; n += 1) {
    inside[n]!();
    await settled();
  }
  assert.equal(inside.length, 10);
});

test('who took long has nothing begun for a while, unless nobody else is here, and others do not wait for it', async () => {
  let now = 0;
  const places = createPlaces(Infinity, () => now);
  enterOften(places, 'b', 1)[0]!();
  enterOften(places, 'a', 1)[0]!();
  places.rest('a', 300);
  assert.equal(typeof places.enter('b'), 'function');
  assert.equal(enterOften(places, 'a', 1).length, 0);
  now = 301;
  assert.equal(enterOften(places, 'c', AT_ONCE).length, AT_ONCE);
  // However much it was, it is two seconds; and whoever is alone rests for nobody.
  places.rest('c', 1e9);
  assert.equal(enterOften(places, 'c', 1).length, 0);
  now = 1400;
  assert.equal(enterOften(places, 'c', 1).length, 0, 'one that waits is before it');
  const alone = createPlaces(Infinity, () => now);
  enterOften(alone, 'a', 1);
  alone.rest('a', 500);
  assert.equal(enterOften(alone, 'a', 9).length, 9);
});

test('the one who comes with a single request never waits for the many of another', () => {
  const places = createPlaces(Infinity, () => 0);
  enterOften(places, 'a', 50);
  assert.equal(typeof places.enter('b'), 'function');
  assert.equal(enterOften(places, 'a', 50).length, 0);
  assert.equal(typeof places.enter('b'), 'function');
});

test('what waits long for something else keeps no place', async () => {
  let time = 0;
  const places = createPlaces(Infinity, () => time);
  places.enter('b');
  const inside = enterOften(places, 'a', 2 * AT_ONCE);
  assert.equal(inside.length, AT_ONCE);
  time = 500;
  places.enter('b');
  while (inside.length < 2 * AT_ONCE) await settled();
});

test('who is gone does not count', () => {
  let time = 0;
  const places = createPlaces(Infinity, () => time);
  places.enter('b');
  assert.equal(enterOften(places, 'a', 8).length, AT_ONCE);
  time = 2000;
  assert.equal(enterOften(places, 'c', 8).length, 8);
  assert.equal(enterOften(places, 'd', 8).length, AT_ONCE, 'c is here');
});

test('who withdraws leaves nothing behind', async () => {
  const places = createPlaces(Infinity, () => 0);
  places.enter('b');
  const inside = enterOften(places, 'a', AT_ONCE);
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

/** How many of so many get in. */
function admitted(places: ReturnType<typeof createPlaces>, account: string | undefined, times: number): number {
  let count = 0;
  for (let n = 0; n < times; n += 1) {
    try {
      if (account === undefined) places.pass();
      else places.enter(account);
      count += 1;
    } catch (error) {
      const { status, headers } = error as AppError;
      assert.deepEqual([status, headers], [503, { 'retry-after': '2' }]);
    }
  }
  return count;
}

test('nobody has more under way than is left free, and whoever comes first gets in until all is taken', () => {
  const places = createPlaces(10, () => 0);
  assert.equal(admitted(places, 'a', 20), 5);
  assert.equal(admitted(places, 'b', 20), 3);
  assert.equal(admitted(places, undefined, 20), 1);
  assert.equal(admitted(places, 'c', 20), 1);
  assert.equal(admitted(places, 'd', 20), 0);
  assert.equal(places.underWay(), 10);
});

test('what left, and what waits no longer, makes room again', async () => {
  const places = createPlaces(20, () => 0);
  const stranger = places.pass();
  const passing = places.pass('b');
  places.enter('b');
  const turns = Array.from({ length: AT_ONCE + 2 }, () => places.enter('a'));
  assert.equal(places.underWay(), AT_ONCE + 5);
  const [waiting, coming] = turns.slice(AT_ONCE) as Turn[];
  waiting!.withdraw();
  waiting!.withdraw();
  assert.equal(places.underWay(), AT_ONCE + 4);
  (turns[0] as Leave)();
  (await coming!.comes)();
  for (const leave of turns.slice(1, AT_ONCE) as Leave[]) leave();
  stranger();
  passing();
  assert.equal(places.underWay(), 1);
});

test(
  'a server with too much to do says so, to those who have most of it, and always says that it lives',
  { timeout: 60_000 },
  async () => {
    const users = new Map(['ann', 'bob'].map((id) => [id, { ...user, id }]));
    const accounts = { bySession: async (token: string) => users.get(token) ?? null, byKey: async () => null };
    const server = testServer({ accounts, env: { MAX_REQUESTS: '16' } });
    const opened = Promise.withResolvers<Record<string, never>>();
    const common = { service: 'web', summary: 'A test', tag: 'Test', method: 'GET' } as const;
    const slow = { ...common, auth: 'optional', reply: z.object({}) } as const;
    serve(server, endpoint({ ...slow, path: '/api/slow' }), () => opened.promise);
    serve(server, endpoint({ ...slow, path: '/v1/slow', errorShape: 'openai' }), () => opened.promise);
    serve(server, endpoint({ ...common, auth: 'none', path: '/health', reply: z.object({}) }), () => ({}));
    const url = await server.listen(0, 'WEB_PORT');
    const ask = (path: string, whom?: string) =>
      fetch(`${url}${path}`, { headers: whom === undefined ? {} : { cookie: `svc-session=${whom}` } });
    const asked: Promise<Response>[] = [];
    /** Asks until one is refused, which has to answer; the others wait. */
    const fill = async (whom?: string): Promise<Response> => {
      for (;;) {
        const before = server.places.underWay();
        const answer = ask('/api/slow', whom);
        let isRefused = false;
        const refused = await Promise.race([answer, until(() => isRefused || server.places.underWay() > before)]);
        isRefused = refused !== undefined;
        if (refused) return refused;
        asked.push(answer);
      }
    };
    const refused = await fill('ann');
    assert.deepEqual(
      [refused.status, refused.headers.get('retry-after'), await refused.json()],
      [503, '2', { error: 'The service is busy. Try again in a moment.' }],
    );
    assert.equal(asked.length, 8);
    const shaped = (await (await ask('/v1/slow', 'ann')).json()) as { error: { message: string } };
    assert.equal(shaped.error.message, 'The service is busy. Try again in a moment.');
    // Others still get in.
    assert.equal((await fill('bob')).status, 503);
    assert.equal((await fill()).status, 503);
    assert.ok(asked.length > 12 && asked.length < 16, `${asked.length}`);
    for (const path of ['/health', '/ready']) assert.equal((await ask(path)).status, 200, path);
    opened.resolve({});
    for (const answer of asked) assert.equal((await answer).status, 200);
    assert.equal((await ask('/api/slow', 'ann')).status, 200);
    assert.equal(server.places.underWay(), 0);
    await server.close();
  },
);

async function until(holds: () => boolean): Promise<undefined> {
  while (!holds()) await settled();
}

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
