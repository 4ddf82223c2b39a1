import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoint } from '@troupe/contract';
import { z } from 'zod';
import { AppError } from '../errors.ts';
import { createLog } from '../log.ts';
import { csrfToken } from './csrf.ts';
import { identityHeaders } from './guards.ts';
import type { Authenticator, User } from './principal.ts';
import { eventStream, redirect, respond } from './reply.ts';
import { serve } from './serve.ts';
import { TEST_SECRETS, testServer } from '@troupe/testing/http/server';

const base = { service: 'web', summary: 'A test', tag: 'Test' } as const;

const echo = endpoint({
  ...base,
  method: 'POST',
  path: '/api/echo',
  auth: 'none',
  body: z.object({
    name: z.string({ error: 'Name required' }).trim().min(1, 'Name required'),
    count: z.number().int().optional(),
  }),
  reply: z.object({ name: z.string() }),
});

const echoServer = () => {
  const server = testServer();
  serve(server, echo, ({ body }) => ({ name: body.name }));
  return server.app;
};

const json = (payload: string) =>
  ({ method: 'POST', url: '/api/echo', headers: { 'content-type': 'application/json' }, payload }) as const;

test('a valid body reaches the handler, transformed', async () => {
  const answer = await echoServer().inject(json('{"name":"  Ada "}'));
  assert.equal(answer.statusCode, 200);
  assert.deepEqual(answer.json(), { name: 'Ada' });
});

test('bad bodies get a status and a sentence', async () => {
  const app = echoServer();
  const cases: [string, number, string][] = [
    ['{"name":', 400, 'Invalid JSON'],
    ['{}', 400, 'Name required'],
    ['{"name":5}', 400, 'Name required'],
    ['{"name":"a","count":"x"}', 400, 'count must be a number'],
    ['[]', 400, 'body must be an object'],
    ['{"__proto__":{"a":1},"name":"a"}', 400, 'Invalid JSON'],
    [JSON.stringify({ name: 'x'.repeat(1_048_576) }), 413, 'Request body too large'],
  ];
  for (const [payload, status, error] of cases) {
    const answer = await app.inject(json(payload));
    assert.deepEqual([answer.statusCode, answer.json()], [status, { error }], payload.slice(0, 40));
  }
});

test('a body of exactly the limit is read', async () => {
  const payload = JSON.stringify({ name: 'x'.repeat(1_048_576 - '{"name":""}'.length) });
  assert.equal(payload.length, 1_048_576);
  assert.equal((await echoServer().inject(json(payload))).statusCode, 200);
});

test('another content type is refused', async () => {
  const answer = await echoServer().inject({
    ...json('name=a'),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert.deepEqual([answer.statusCode, answer.json()], [400, { error: 'Content-Type must be application/json' }]);
});

test('unknown paths and methods are 404 in JSON', async () => {
  const app = echoServer();
  for (const request of [
    { method: 'GET', url: '/nowhere' },
    { method: 'PUT', url: '/api/echo' },
  ] as const) {
    const answer = await app.inject(request);
    assert.deepEqual([answer.statusCode, answer.json()], [404, { error: 'Not found' }]);
  }
});

test('an unexpected error is a 500 with a fixed text; the cause is only in the log', async () => {
  const lines: string[] = [];
  const server = testServer({
    log: createLog({ level: 'info', service: 'web', destination: { write: (line) => lines.push(line) } }),
  });
  const boom = endpoint({ ...base, method: 'GET', path: '/api/boom', auth: 'none', reply: z.object({}) });
  const named = endpoint({
    ...base,
    method: 'GET',
    path: '/api/named',
    auth: 'none',
    reply: z.object({}),
    failure: 'Login failed',
    errorFields: { success: false },
  });
  const fail = () => {
    throw new Error('the database password is hunter2');
  };
  serve(server, boom, fail);
  serve(server, named, fail);
  const answer = await server.app.inject('/api/boom');
  assert.deepEqual([answer.statusCode, answer.json()], [500, { error: 'Internal server error' }]);
  assert.match(lines.join(''), /hunter2/);
  assert.match(lines.join(''), new RegExp(String(answer.headers['x-request-id'])));
  assert.deepEqual((await server.app.inject('/api/named')).json(), { error: 'Login failed', success: false });
});

test('secrets never reach the log', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', service: 'web', destination: { write: (line) => lines.push(line) } });
  log.info({
    password: 'hunter2',
    body: { apiKey: 'hunter2', deep: { token: 'hunter2' } },
    headers: { authorization: 'hunter2', cookie: 'hunter2' },
  });
  assert.doesNotMatch(lines.join(''), /hunter2/);
});

test('a reply that breaks its schema is an error outside production', async () => {
  const server = testServer();
  serve(server, echo, () => ({ nome: 'x' }) as never);
  assert.equal((await server.app.inject(json('{"name":"a"}'))).statusCode, 500);
});

test('security headers are on every answer and X-RateLimit-* on none', async () => {
  const { headers } = await echoServer().inject(json('{"name":"a"}'));
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['x-frame-options'], 'DENY');
  assert.match(String(headers['content-security-policy']), /default-src 'self'/);
  assert.equal(
    Object.keys(headers).some((name) => name.startsWith('x-ratelimit')),
    false,
  );
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

const accounts: Authenticator = {
  bySession: async (token) => (token === 'good' ? user : token === 'admin' ? { ...user, isAdmin: true } : null),
  byKey: async (key) => (key === 'sk_good' ? { ...user, sessionId: null } : null),
};

function guarded(
  auth: 'session' | 'cookie' | 'optional' | 'admin' | 'internal' | 'internalOrKey' | 'userContext' | 'identity',
  env = {},
) {
  const server = testServer({ accounts, env });
  const one = endpoint({ ...base, method: 'POST', path: '/api/guarded', auth, reply: z.object({ user: z.unknown() }) });
  serve(server, one, ({ user: principal }) => ({ user: principal ?? null }));
  return (headers: Record<string, string> = {}) => server.app.inject({ method: 'POST', url: '/api/guarded', headers });
}

test('session: cookie or key, 401 without', async () => {
  const ask = guarded('session');
  assert.deepEqual([(await ask()).statusCode, (await ask()).json()], [401, { error: 'Unauthorized' }]);
  assert.equal((await ask({ cookie: 'svc-session=bad' })).statusCode, 401);
  assert.equal((await ask({ cookie: 'svc-session=good' })).statusCode, 200);
  assert.equal((await ask({ authorization: 'Bearer sk_good' })).statusCode, 200);
  assert.equal((await ask({ authorization: 'Bearer sk_bad' })).statusCode, 401);
});

test('cookie: a key is not enough', async () => {
  const ask = guarded('cookie');
  assert.equal((await ask({ authorization: 'Bearer sk_good' })).statusCode, 401);
  assert.equal((await ask({ cookie: 'svc-session=good' })).statusCode, 200);
});

test('optional: passes with nobody', async () => {
  assert.deepEqual((await guarded('optional')()).json(), { user: null });
});

test('admin: 403 with a code for everybody else', async () => {
  const ask = guarded('admin');
  for (const headers of [{}, { cookie: 'svc-session=good' }] as Record<string, string>[]) {
    const answer = await ask(headers);
    assert.deepEqual(
      [answer.statusCode, answer.json()],
      [403, { error: 'Admin access required.', code: 'ADMIN_REQUIRED' }],
    );
  }
  assert.equal((await ask({ cookie: 'svc-session=admin' })).statusCode, 200);
});

test('internal: 401 without a bearer, 403 with a wrong one', async () => {
  const ask = guarded('internal');
  assert.deepEqual([(await ask()).statusCode, (await ask()).json()], [401, { error: 'Unauthorized' }]);
  assert.equal((await ask({ authorization: 'Basic x' })).statusCode, 401);
  assert.deepEqual((await ask({ authorization: 'Bearer wrong' })).json(), { error: 'Forbidden' });
  assert.equal((await ask({ authorization: `Bearer ${TEST_SECRETS.internalKey}` })).statusCode, 200);
});

test('internal: 500 when no key is configured', async () => {
  const server = testServer({ secrets: { internalKey: undefined, sessionSecret: 's' } });
  serve(server, endpoint({ ...base, method: 'GET', path: '/x', auth: 'internal', reply: z.object({}) }), () => ({}));
  const answer = await server.app.inject({ url: '/x', headers: { authorization: 'Bearer x' } });
  assert.deepEqual([answer.statusCode, answer.json()], [500, { error: 'Server misconfigured' }]);
});

test('internalOrKey: the internal key is nobody, a user key is its user', async () => {
  const ask = guarded('internalOrKey');
  assert.deepEqual((await ask({ authorization: `Bearer ${TEST_SECRETS.internalKey}` })).json(), { user: null });
  assert.equal((await ask({ authorization: 'Bearer sk_good' })).json().user.id, 'u1');
  assert.equal((await ask({ authorization: 'Bearer sk_bad' })).statusCode, 401);
  assert.equal((await ask({ authorization: 'Bearer other' })).statusCode, 403);
});

test('userContext: key and both headers, 401 for anything less', async () => {
  const ask = guarded('userContext');
  const key = { authorization: `Bearer ${TEST_SECRETS.internalKey}` };
  assert.equal((await ask({ authorization: 'Bearer wrong', 'x-user-id': 'u', 'x-user-email': 'e' })).statusCode, 401);
  assert.deepEqual((await ask(key)).json(), { error: 'User context required' });
  assert.deepEqual((await ask({ ...key, 'x-user-id': 'u' })).statusCode, 401);
  assert.deepEqual((await ask({ ...key, 'x-user-id': 'u', 'x-user-email': 'e' })).json(), {
    user: { id: 'u', email: 'e' },
  });
});

test('identity: headers are believed on loopback, by signature or by key, and nowhere else', async () => {
  const claim = { 'x-user-id': 'u1', 'x-user-email': 'a@b.c' };
  const local = guarded('identity');
  assert.equal((await local()).json().user.id, 'anonymous');
  assert.equal((await local(claim)).json().user.id, 'u1');
  const open = guarded('identity', { BASE_URL: 'https://troupe.example' });
  assert.equal((await open(claim)).json().user.id, 'anonymous');
  assert.equal((await open({ ...claim, 'x-user-signature': '1.bad' })).json().user.id, 'anonymous');
  const signed = identityHeaders(TEST_SECRETS.sessionSecret, user, new Date());
  assert.deepEqual((await open(signed)).json().user, {
    id: 'u1',
    email: 'a@b.c',
    role: 'user',
    verified: true,
    byKey: false,
  });
  assert.equal((await open({ ...signed, 'x-user-role': 'admin' })).json().user.id, 'anonymous');
  const old = identityHeaders(TEST_SECRETS.sessionSecret, user, new Date(Date.now() - 3_600_000));
  assert.equal((await open(old)).json().user.id, 'anonymous');
  assert.equal((await open({ authorization: 'Bearer sk_good' })).json().user.byKey, true);
});

test('a browser on another site cannot use the cookie, unless it has the token', async () => {
  const ask = guarded('session');
  const cookie = { cookie: 'svc-session=good' };
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
  ] as Record<string, string>[]) {
    const answer = await ask({ ...cookie, ...headers });
    assert.deepEqual([answer.statusCode, answer.json()], [403, { error: 'Invalid CSRF token' }]);
    assert.equal(
      (await ask({ ...cookie, ...headers, 'x-csrf-token': csrfToken(TEST_SECRETS.sessionSecret, 's1') })).statusCode,
      200,
    );
    assert.equal(
      (await ask({ ...cookie, ...headers, 'x-csrf-token': csrfToken(TEST_SECRETS.sessionSecret, 's2') })).statusCode,
      403,
    );
  }
  assert.equal((await ask({ ...cookie, 'sec-fetch-site': 'same-origin' })).statusCode, 200);
  assert.equal((await ask({ ...cookie, origin: 'http://127.0.0.1:3000' })).statusCode, 200);
});

test('the guard speaks before the body is looked at', async () => {
  const server = testServer({ accounts });
  serve(
    server,
    endpoint({
      ...base,
      method: 'POST',
      path: '/x',
      auth: 'session',
      body: z.object({ a: z.string() }),
      reply: z.object({}),
    }),
    () => ({}),
  );
  const answer = await server.app.inject({
    method: 'POST',
    url: '/x',
    headers: { 'content-type': 'application/json' },
    payload: '{',
  });
  assert.equal(answer.statusCode, 401);
});

test('answers: status, cookies, redirects, text', async () => {
  const server = testServer();
  const get = (path: string) => endpoint({ ...base, method: 'GET', path, auth: 'none' });
  serve(server, get('/r'), () => redirect('/login?error=AccessDenied'));
  serve(server, get('/c'), () =>
    respond({
      status: 202,
      body: '',
      cookies: [{ name: 'a', value: 'b', httpOnly: true, sameSite: 'lax', path: '/' }],
    }),
  );
  const moved = await server.app.inject('/r');
  assert.deepEqual([moved.statusCode, moved.headers.location], [302, '/login?error=AccessDenied']);
  const accepted = await server.app.inject('/c');
  assert.deepEqual([accepted.statusCode, accepted.body], [202, '']);
  assert.equal(String(accepted.headers['set-cookie']), 'a=b; Path=/; HttpOnly; SameSite=Lax');
});

test('server-sent events come as they are made', async () => {
  const server = testServer();
  async function* events() {
    yield { id: '1', event: 'log', data: { line: 'a\nb' } };
    yield { data: '[DONE]' };
  }
  serve(server, endpoint({ ...base, method: 'GET', path: '/s', auth: 'none', produces: 'text/event-stream' }), () =>
    eventStream(events()),
  );
  const answer = await server.app.inject('/s');
  assert.equal(answer.headers['content-type'], 'text/event-stream');
  assert.equal(answer.body, 'id: 1\nevent: log\ndata: {"line":"a\\nb"}\n\ndata: [DONE]\n\n');
});

test('a stream that has nothing to say yet is answered at once', async (t) => {
  const server = testServer();
  const quiet = endpoint({ ...base, method: 'GET', path: '/api/quiet', auth: 'none', produces: 'text/event-stream' });
  serve(server, quiet, ({ request }) => {
    async function* nothing() {
      const signal = request.signal();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield { event: 'late', data: '' };
    }
    return eventStream(nothing());
  });
  const url = await server.listen(0, 'WEB_PORT');
  t.after(server.close);
  const client = new AbortController();
  const answer = await fetch(`${url}/api/quiet`, { signal: client.signal });
  assert.equal(answer.status, 200);
  client.abort();
});

test('a client that leaves ends the stream', async () => {
  const server = testServer();
  let ended!: () => void;
  const end = new Promise<void>((resolve) => (ended = resolve));
  serve(server, endpoint({ ...base, method: 'GET', path: '/s', auth: 'none' }), ({ request }) => {
    const signal = request.signal();
    async function* forever() {
      try {
        while (!signal.aborted) {
          yield { data: 'tick' };
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      } finally {
        ended();
      }
    }
    return eventStream(forever());
  });
  const address = await server.listen(0, 'WEB_PORT');
  const stop = new AbortController();
  const response = await fetch(`${address}/s`, { signal: stop.signal });
  await response.body?.getReader().read();
  stop.abort();
  await end;
  await server.close();
});

test('a port in use is one sentence', async () => {
  const first = testServer();
  const port = Number(new URL(await first.listen(0, 'WEB_PORT')).port);
  await assert.rejects(testServer().listen(port, 'WEB_PORT'), {
    name: 'StartError',
    message: new RegExp(`Port ${port} .* set WEB_PORT`),
  });
  await first.close();
});

test('an error keeps its extra fields', async () => {
  const server = testServer();
  const errors = { 402: ['Payment required'] };
  serve(server, endpoint({ ...base, method: 'GET', path: '/x', auth: 'none', reply: z.object({}), errors }), () => {
    throw new AppError(402, 'Payment required', { code: 'PAYMENT_REQUIRED' });
  });
  assert.deepEqual((await server.app.inject('/x')).json(), { error: 'Payment required', code: 'PAYMENT_REQUIRED' });
});
