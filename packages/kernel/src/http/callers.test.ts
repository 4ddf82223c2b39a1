import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint } from '@troupe/contract';
import { z } from 'zod';
import { serve } from './serve.ts';
import { TEST_SECRETS, testServer } from '@troupe/testing/http/server';

const RULE = {
  name: 't',
  service: 'web',
  path: '/api/*',
  limit: 3,
  seconds: 60,
  message: 'Too many requests',
} as const;
const base = { service: 'web', method: 'GET', summary: 'A test', tag: 'Test', reply: z.object({}) } as const;
const mine = endpoint({ ...base, path: '/api/mine', auth: 'session' });
const either = endpoint({ ...base, path: '/api/either', auth: 'optional' });

/** Sessions of ada and bob, and keys; `ended` are no longer valid. */
function start(limit = 3) {
  let lookups = 0;
  const ended = new Set<string>();
  const person = (id: string, sessionId: string | null) => ({
    id,
    email: `${id}@b.c`,
    name: '',
    isAdmin: false,
    emailVerified: true,
    plan: null,
    subscriptionStatus: 'active' as const,
    sessionId,
  });
  const find = (token: string) => {
    lookups += 1;
    const id = /^(?:sk_)?(ada|bob)/.exec(token)?.[1];
    return Promise.resolve(id === undefined || ended.has(token) ? null : person(id, token));
  };
  const server = testServer({ rateRules: [{ ...RULE, limit }], accounts: { bySession: find, byKey: find } });
  serve(server, mine, () => ({}));
  serve(server, either, () => ({}));
  const ask = async (headers: Record<string, string> = {}, url = '/api/mine') =>
    (await server.app.inject({ url, headers })).statusCode;
  const times = async (count: number, work: () => Promise<number>): Promise<number[]> => {
    const statuses = [];
    for (let n = 0; n < count; n += 1) statuses.push(await work());
    return statuses;
  };
  return { ask, times, ended, lookups: () => lookups };
}

const session = (token: string) => ({ cookie: `svc-session=${token}` });

test('people behind one address are counted by account, with all sessions and keys of it together', async () => {
  const { ask, times } = start();
  assert.deepEqual(await times(4, () => ask(session('ada-1'))), [200, 200, 200, 429]);
  assert.equal(await ask(session('ada-2')), 429);
  assert.equal(await ask({ authorization: 'Bearer sk_ada' }), 429);
  assert.deepEqual(await times(4, () => ask(session('bob-1'))), [200, 200, 200, 429]);
  // Who shows nothing, or nothing that is valid, is the address.
  assert.deepEqual(await times(2, () => ask()), [401, 401]);
  assert.equal(await ask(session('nobody')), 401);
  assert.equal(await ask(session('another')), 429);
  assert.equal(await ask({}, '/api/either'), 429);
});

test('an address that is used up keeps nobody out who is signed in', async () => {
  const { ask, times } = start();
  assert.deepEqual(await times(5, () => ask(session('nobody'), '/api/either')), [200, 200, 200, 429, 429]);
  assert.equal(await ask(session('ada-1')), 200);
});

test('who is over the limit is not looked up again', async () => {
  const { ask, times, lookups } = start();
  await times(3, () => ask(session('ada-1')));
  const before = lookups();
  assert.deepEqual(await times(20, () => ask(session('ada-1'))), Array(20).fill(429));
  assert.equal(lookups(), before);
});

test('a session that has ended uses up nothing of its owner', async () => {
  const { ask, times, ended } = start();
  assert.equal(await ask(session('ada-1')), 200);
  ended.add('ada-1');
  await times(10, () => ask(session('ada-1')));
  assert.equal(await ask(session('ada-2')), 200);
});

test('guesses are looked up six hundred times a minute and address at most, and then as often as the limit says', async () => {
  const { ask, lookups } = start();
  for (let n = 0; n < 700; n += 1) await ask(session(`guess-${n}`));
  assert.equal(lookups(), 600);
  // Those who were seen before are not held up by it.
  const { ask: askToo, lookups: looked } = start(1000);
  await askToo(session('ada-1'));
  for (let n = 0; n < 1700; n += 1) await askToo(session(`guess-${n}`));
  assert.equal(await askToo(session('ada-1')), 200);
  assert.ok(looked() < 1605, `${looked()} lookups`);
});

test('the platform says for whom it asks', async () => {
  const { ask, times } = start();
  const told = (whom: Record<string, string>) => ({
    authorization: `Bearer ${TEST_SECRETS.internalKey}`,
    ...session('ada-1'),
    ...whom,
  });
  assert.deepEqual(await times(4, () => ask(told({ 'x-client-ip': '10.0.0.1' }))), [200, 200, 200, 429]);
  assert.equal(await ask(told({ 'x-client-ip': '10.0.0.1', 'x-counted-as': 'user:bob' })), 200);
  assert.equal(await ask({ ...session('ada-1'), 'x-counted-as': 'user:bob' }), 200);
  assert.deepEqual(await times(3, () => ask({ ...session('ada-1'), 'x-counted-as': 'user:bob' })), [200, 200, 429]);
});

test('what the platform asks once more, after a cut, counts once; nobody else can say that', async () => {
  const { ask, times } = start();
  const ours = {
    authorization: `Bearer ${TEST_SECRETS.internalKey}`,
    ...session('ada-1'),
    'x-counted-as': 'user:ada',
  };
  assert.deepEqual(await times(3, () => ask({ ...ours, 'x-asked-again': '1' })), [200, 200, 200]);
  assert.deepEqual(await times(4, () => ask(ours)), [200, 200, 200, 429]);
  const own = { ...session('bob-1'), 'x-asked-again': '1' };
  assert.deepEqual(await times(4, () => ask(own)), [200, 200, 200, 429]);
});
