import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint } from '@troupe/contract';
import { z } from 'zod';
import { identityHeaders } from './guards.ts';
import { serve } from './serve.ts';
import { TEST_SECRETS, testServer } from '@troupe/testing/http/server';

const user = { id: 'u1', email: 'a@b.c', isAdmin: false };

const echo = endpoint({
  service: 'web',
  method: 'POST',
  path: '/api/echo',
  auth: 'none',
  summary: 'A test',
  tag: 'Test',
  body: z.object({ name: z.string() }),
  reply: z.object({ name: z.string() }),
});

const json = (payload: string) =>
  ({ method: 'POST', url: '/api/echo', headers: { 'content-type': 'application/json' }, payload }) as const;

test('rate limits: headers, message, per address, and the address that the internal key names', async () => {
  const rateRules = [
    { name: 't', service: 'web', path: '/api/echo', limit: 2, seconds: 60, message: 'Too many requests' },
  ] as const;
  const server = testServer({ rateRules });
  serve(server, echo, ({ body }) => ({ name: body.name }));
  const ask = (headers: Record<string, string> = {}) =>
    server.app.inject({ ...json('{"name":"a"}'), headers: { 'content-type': 'application/json', ...headers } });
  const first = await ask();
  assert.deepEqual(
    [first.headers['ratelimit-limit'], first.headers['ratelimit-remaining'], first.headers['ratelimit-reset']],
    ['2', '1', '60'],
  );
  await ask();
  const third = await ask();
  assert.deepEqual(
    [third.statusCode, third.json(), third.headers['ratelimit-remaining']],
    [429, { error: 'Too many requests' }, '0'],
  );
  assert.equal((await ask({ 'x-client-ip': '9.9.9.9' })).statusCode, 429);
  assert.equal((await ask({ 'x-forwarded-for': '9.9.9.9' })).statusCode, 429);
  const platform = identityHeaders(TEST_SECRETS.sessionSecret, user, new Date());
  assert.equal((await ask({ ...platform, 'x-client-ip': 'agent:1' })).statusCode, 200);
  assert.equal((await ask({ ...platform, 'x-user-id': 'other', 'x-client-ip': 'agent:2' })).statusCode, 429);
  assert.equal(
    (await ask({ 'x-client-ip': '9.9.9.9', authorization: `Bearer ${TEST_SECRETS.internalKey}` })).statusCode,
    200,
  );
});

test('a limit of a user counts whoever shows a key, whatever the address, and not the internal key', async () => {
  const path = '/v1/echo';
  const rateRules = [
    { name: 'v', service: 'web', path: '/v1/*', per: 'user', limit: 2, seconds: 60, message: 'Too many requests' },
  ] as const;
  const key = (id: string) => `sk_${id}`;
  const accounts = {
    bySession: async () => null,
    byKey: async (shown: string) => ({
      ...user,
      id: shown.slice(3),
      name: '',
      emailVerified: true,
      plan: null,
      subscriptionStatus: 'active' as const,
      sessionId: null,
    }),
  };
  const server = testServer({ rateRules, accounts });
  serve(server, { ...echo, path, auth: 'internalOrKey' } as typeof echo, ({ body }) => ({ name: body.name }));
  const ask = (token: string) =>
    server.app.inject({
      ...json('{"name":"a"}'),
      url: path,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    });
  assert.equal((await ask(key('ada'))).headers['ratelimit-remaining'], '1');
  await ask(key('ada'));
  const third = await ask(key('ada'));
  assert.deepEqual([third.statusCode, third.json()], [429, { error: 'Too many requests' }]);
  assert.equal((await ask(key('bob'))).statusCode, 200);
  for (let asked = 0; asked < 4; asked += 1) {
    const internal = await ask(TEST_SECRETS.internalKey);
    assert.deepEqual([internal.statusCode, internal.headers['ratelimit-limit']], [200, undefined]);
  }
});

test('X-Forwarded-For counts as far as TRUST_PROXY says', async () => {
  const rateRules = [
    { name: 't', service: 'web', path: '/api/echo', limit: 1, seconds: 60, message: 'Too many requests' },
  ] as const;
  const server = testServer({ rateRules, env: { TRUST_PROXY: '1' } });
  serve(server, echo, ({ body }) => ({ name: body.name }));
  const ask = async (from: string) =>
    (
      await server.app.inject({
        ...json('{"name":"a"}'),
        headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
      })
    ).statusCode;
  assert.deepEqual([await ask('1.1.1.1'), await ask('2.2.2.2'), await ask('6.6.6.6, 2.2.2.2')], [200, 200, 429]);
});

test('metrics count what was answered', async () => {
  const server = testServer();
  serve(server, echo, ({ body }) => ({ name: body.name }));
  await server.app.inject(json('{"name":"a"}'));
  const text = (await server.app.inject('/metrics')).body;
  assert.match(text, /http_requests_total\{service="web",method="POST",route="\/api\/echo",status="200"\} 1/);
  assert.match(text, /http_request_duration_seconds_bucket\{service="web",route="\/api\/echo",le="\+Inf"\} 1/);
  assert.match(text, /event_loop_delay_p99_seconds/);
});

test('metrics of a public service need the internal key', async () => {
  const server = testServer({ env: { BASE_URL: 'https://troupe.example' } });
  assert.equal((await server.app.inject('/metrics')).statusCode, 401);
  assert.equal(
    (await server.app.inject({ url: '/metrics', headers: { authorization: `Bearer ${TEST_SECRETS.internalKey}` } }))
      .statusCode,
    200,
  );
});

test('a wrong key is refused at the metrics, also on this machine, where none is needed', async () => {
  const server = testServer();
  const ask = async (headers: Record<string, string>) =>
    (await server.app.inject({ url: '/metrics', headers })).statusCode;
  assert.equal(await ask({}), 200);
  assert.equal(await ask({ authorization: 'Bearer wrong' }), 403);
  assert.equal(await ask({ authorization: `Bearer ${TEST_SECRETS.internalKey}` }), 200);
});
