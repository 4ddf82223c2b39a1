import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { endpoint } from '@troupe/contract';
import { testServer } from '@troupe/testing/http/server';
import { z } from 'zod';
import { serve } from './serve.ts';
import type { Server } from './server.ts';

const echo = endpoint({
  service: 'web',
  summary: 'A test',
  tag: 'Test',
  method: 'POST',
  path: '/api/echo',
  auth: 'none',
  body: z.object({ name: z.string() }),
  reply: z.object({ name: z.string() }),
});

/** A proxy's connection to a server of this process. */
async function keptTo(address: URL): Promise<{ socket: Socket; send: () => void; answer: () => Promise<string> }> {
  const body = '{"name":"Ada"}';
  const request = [
    'POST /api/echo HTTP/1.1',
    `host: ${address.host}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
  const socket = connect(Number(address.port), address.hostname);
  await once(socket, 'connect');
  const send = (): void => void socket.write(request);
  const cut = once(socket, 'close').then(() => ['cut']);
  const answer = async (): Promise<string> => String((await Promise.race([once(socket, 'data'), cut]))[0]);
  return { socket, send, answer };
}

async function startEcho(add: (server: Server) => void = () => {}) {
  const server = testServer({ env: { TRUST_PROXY: '1' } });
  add(server);
  serve(server, echo, ({ body }) => ({ name: body.name }));
  const address = new URL(await server.listen(0, 'WEB_PORT'));
  return { server, address, kept: await keptTo(address) };
}

const untilClosed = async (server: Server): Promise<void> => {
  while (server.app.server.listening) await new Promise(setImmediate);
};

test('a stop behind a proxy answers what comes on a connection that was kept, and takes no new one', async () => {
  const { server, address, kept } = await startEcho();
  kept.send();
  assert.match(await kept.answer(), /^HTTP\/1\.1 200[^]*connection: keep-alive/i);
  const closed = server.close();
  await untilClosed(server);
  await assert.rejects(fetch(`${address.origin}/health`));
  kept.send();
  assert.match(await kept.answer(), /^HTTP\/1\.1 200[^]*connection: close/i);
  await closed;
});

test('a connection that has just come to rest may be used once more, also late in a stop', async () => {
  const over = Promise.withResolvers<void>();
  const { server, address, kept } = await startEcho(({ app }) =>
    app.get('/slow', (_request, reply) => {
      reply.hijack();
      reply.raw.writeHead(200, { 'content-length': '2' }).write('o');
      void over.promise.then(() => reply.raw.end('k'));
    }),
  );
  kept.socket.write(`GET /slow HTTP/1.1\r\nhost: ${address.host}\r\n\r\n`);
  await kept.answer();
  const closed = server.close();
  await untilClosed(server);
  await delay(1_300);
  over.resolve();
  await kept.answer();
  await delay(200);
  kept.send();
  assert.match(await kept.answer(), /^HTTP\/1\.1 200[^]*connection: close/i);
  await closed;
});
