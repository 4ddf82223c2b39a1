import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { endpoint } from '@troupe/contract';
import { testServer } from '@troupe/testing/http/server';
import { z } from 'zod';
import { serve } from './serve.ts';

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

test('a stop behind a proxy answers what comes on a connection that was kept, and takes no new one', async () => {
  const server = testServer({ env: { TRUST_PROXY: '1' } });
  serve(server, echo, ({ body }) => ({ name: body.name }));
  const address = new URL(await server.listen(0, 'WEB_PORT'));
  const body = '{"name":"Ada"}';
  const request = [
    'POST /api/echo HTTP/1.1',
    `host: ${address.host}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
  const kept = connect(Number(address.port), address.hostname);
  const answer = async (): Promise<string> => {
    kept.write(request);
    return String(((await once(kept, 'data')) as [Buffer])[0]);
  };
  assert.match(await answer(), /^HTTP\/1\.1 200[^]*connection: keep-alive/i);
  const closed = server.close();
  while (server.app.server.listening) await new Promise(setImmediate);
  await assert.rejects(fetch(`${address.origin}/health`));
  assert.match(await answer(), /^HTTP\/1\.1 200[^]*connection: close/i);
  await closed;
});
