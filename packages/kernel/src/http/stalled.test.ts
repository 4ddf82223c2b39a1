import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { test } from 'node:test';
import { endpoint } from '@troupe/contract';
import { z } from 'zod';
import { eventTexts } from './reply.ts';
import { serve } from './serve.ts';
import { testServer } from '@troupe/testing/http/server';

const flood = endpoint({
  service: 'web',
  summary: 'A test',
  tag: 'Test',
  method: 'GET',
  path: '/api/flood',
  auth: 'none',
  reply: z.unknown(),
});

test('a client that stops reading an answer is let go after two minutes, and so is what feeds it', async (context) => {
  const server = testServer();
  const ended = Promise.withResolvers<void>();
  let isEnded = false;
  let pulled = Promise.withResolvers<void>();
  async function* texts() {
    try {
      for (;;) {
        pulled.resolve();
        yield 'x'.repeat(1_000_000);
      }
    } finally {
      isEnded = true;
      ended.resolve();
    }
  }
  serve(server, flood, () => eventTexts(texts()));
  const { port } = new URL(await server.listen(0, 'WEB_PORT'));
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const client = net.connect(Number(port), '127.0.0.1').pause();
  client.on('error', () => {});
  client.write('GET /api/flood HTTP/1.1\r\nhost: localhost\r\n\r\n');
  // As long as the buffers of the system take something, more is pulled.
  for (let quiet = 0; quiet < 20; quiet += 1) {
    pulled = Promise.withResolvers<void>();
    const more = await Promise.race([pulled.promise.then(() => true), turns(10).then(() => false)]);
    if (more) quiet = 0;
  }
  context.mock.timers.tick(119_000);
  await turns(10);
  assert.equal(isEnded, false);
  context.mock.timers.tick(2_000);
  await ended.promise;
  context.mock.timers.reset();
  client.resume();
  await once(client, 'close');
  await server.close();
});

test('nor does an answer that was ready at once hold its connection for good', async (context) => {
  const server = testServer();
  serve(server, flood, () => ({ text: 'x'.repeat(20_000_000) }));
  const { port } = new URL(await server.listen(0, 'WEB_PORT'));
  const patience = Promise.withResolvers<number>();
  context.mock.method(http.ServerResponse.prototype, 'setTimeout', function (this: unknown, ms: number) {
    patience.resolve(ms);
    return this;
  });
  const client = net.connect(Number(port), '127.0.0.1').pause();
  client.on('error', () => {});
  client.write('GET /api/flood HTTP/1.1\r\nhost: localhost\r\n\r\n');
  assert.equal(await patience.promise, 120_000);
  client.destroy();
  await server.close();
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
