import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CallError, endpoint } from '@troupe/contract';
import { z } from 'zod';
import { createBackendClient } from './backend-client.ts';
import { systemClock } from './time.ts';

/** How web asks a backend that goes away under it: real servers that cut. */

const base = { service: 'backend', auth: 'internal', summary: 'A test', tag: 'Test' } as const;
const reply = z.object({ ok: z.boolean() });
const read = endpoint({ ...base, method: 'GET', path: '/api/thing', reply });
const write = endpoint({ ...base, method: 'POST', path: '/api/thing', body: z.object({ n: z.number() }), reply });

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

type Answer = (request: IncomingMessage, response: ServerResponse, nth: number) => void;

async function listen(answer: Answer, port = 0): Promise<{ port: number; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response, asked.push(request)));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, asked };
}

const well: Answer = (_, response) => response.setHeader('content-type', 'application/json').end('{"ok":true}');
const cut: Answer = ({ socket }) => socket.destroy();
const cutFirst: Answer = (request, response, nth) => (nth === 1 ? cut : well)(request, response, nth);

const client = (port: number, more: { fetch?: typeof fetch; timeout?: number } = {}) =>
  createBackendClient({
    url: `http://127.0.0.1:${port}`,
    internalKey: 'k',
    sessionSecret: 's',
    clock: systemClock,
    ...more,
  });

/** Where nobody listens. */
async function closedPort(): Promise<number> {
  const { port } = await listen(well);
  await new Promise((resolve) => servers.pop()?.close(resolve));
  return port;
}

/** Counts what is tried, and does something after each failure. */
function counting(failed: () => Promise<unknown> = async () => {}) {
  const tries = { count: 0 };
  const send: typeof fetch = async (...args) => {
    tries.count += 1;
    return fetch(...args).catch(async (error: unknown) => {
      await failed();
      throw error;
    });
  };
  return { tries, fetch: send };
}

test('what only reads is asked for once more after a cut, and says so', async () => {
  const { port, asked } = await listen(cutFirst);
  assert.deepEqual(await client(port).call(read, {}), { ok: true });
  assert.deepEqual(
    asked.map(({ headers }) => headers['x-asked-again']),
    [undefined, '1'],
  );
});

test('what may have been done is not sent again after a cut', async () => {
  const { port, asked } = await listen(cutFirst);
  await assert.rejects(client(port).call(write, { body: { n: 1 } }), /fetch failed/);
  assert.equal(asked.length, 1);
});

test('what nobody took is sent again, whole, to whoever listens by then', async () => {
  const port = await closedPort();
  const bodies: string[] = [];
  const answer: Answer = (request, response, nth) => {
    bodies.push(`${request.headers['content-length']} ${request.headers['x-asked-again'] ?? 'first'}`);
    well(request, response, nth);
  };
  const { fetch: send } = counting(() => listen(answer, port));
  assert.deepEqual(await client(port, { fetch: send }).call(write, { body: { n: 1 } }), { ok: true });
  assert.deepEqual(bodies, ['7 first']);
});

test('one that stays away is asked twice by the first call, and once by those after it', async () => {
  const port = await closedPort();
  const { tries, fetch: send } = counting();
  const backend = client(port, { fetch: send });
  await assert.rejects(backend.call(read, {}), /fetch failed/);
  assert.equal(tries.count, 2);
  for (let n = 0; n < 5; n += 1) await assert.rejects(backend.as(ADA, '10.0.0.1').call(read, {}), /fetch failed/);
  assert.equal(tries.count, 7);
  // Whoever answers is there again.
  const { asked } = await listen((request, response, nth) => (nth === 2 ? cut : well)(request, response, nth), port);
  await backend.call(read, {});
  assert.deepEqual(await backend.from('10.0.0.1').call(read, {}), { ok: true });
  assert.equal(asked.length, 3);
});

test('an answer that has begun is not begun again, and an error is an answer', async () => {
  const half = await listen((_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"ok":');
    setTimeout(() => response.destroy(), 50);
  });
  await assert.rejects(client(half.port).call(read, {}), /terminated/);
  assert.equal(half.asked.length, 1);
  const broken = await listen((_, response) => response.writeHead(503).end());
  await assert.rejects(
    client(broken.port).call(read, {}),
    (error) => error instanceof CallError && error.status === 503,
  );
  assert.equal(broken.asked.length, 1);
});

test('the caller’s time is over when it is over', async () => {
  const port = await closedPort();
  const { tries, fetch: send } = counting(() => delay(20));
  await assert.rejects(client(port, { fetch: send, timeout: 30 }).call(read, {}), { name: 'TimeoutError' });
  assert.equal(tries.count, 1);
});

const ADA = {
  id: 'ada',
  email: 'a@b.c',
  name: '',
  isAdmin: false,
  emailVerified: true,
  plan: null,
  subscriptionStatus: 'active',
  sessionId: null,
} as const;
