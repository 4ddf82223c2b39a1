import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openEventStream } from './exchange.ts';

/** Words of an answer are written as they come. With a listener for each that waits, reading on took the square of them. */
test('who reads nothing is waited for once, however much is written', async () => {
  const answers = Promise.withResolvers<ServerResponse>();
  const server = http.createServer((_request, response) => answers.resolve(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = http.get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  request.on('error', () => undefined);
  const response = await answers.promise;
  const { signal } = new AbortController();
  const stream = openEventStream({ response, signal });
  const [reader] = (await once(request, 'response')) as [http.IncomingMessage];
  const before = response.listenerCount('drain') + response.listenerCount('close');
  const written = Array.from({ length: 2000 }, () => stream.write(`data: ${'x'.repeat(10_000)}\n\n`));
  assert.ok(response.listenerCount('drain') + response.listenerCount('close') <= before + 2);
  reader.resume();
  await Promise.all(written);
  stream.end();
  await once(reader, 'end');
  server.close();
});
