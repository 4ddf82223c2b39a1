import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { inPieces, openEventStream } from './exchange.ts';

/** A stream of events, and who is to read it. */
async function streamed() {
  const answers = Promise.withResolvers<ServerResponse>();
  const server = http.createServer((_request, response) => answers.resolve(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = http.get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  request.on('error', () => undefined);
  const response = await answers.promise;
  const stream = openEventStream({ response, signal: new AbortController().signal });
  const [reader] = (await once(request, 'response')) as [http.IncomingMessage];
  return { server, response, stream, reader };
}

/** Words of an answer are written as they come. With a listener for each that waits, reading on took the square of them. */
test('who reads nothing is waited for once, however much is written', async () => {
  const { server, response, stream, reader } = await streamed();
  const before = response.listenerCount('drain') + response.listenerCount('close');
  const written = Array.from({ length: 2000 }, () => stream.write(`data: ${'x'.repeat(10_000)}\n\n`));
  assert.ok(response.listenerCount('drain') + response.listenerCount('close') <= before + 2);
  reader.resume();
  await Promise.all(written);
  stream.end();
  await once(reader, 'end');
  server.close();
});

test('words for who reads nothing wait as one text, and all of them arrive', async () => {
  const { server, response, stream, reader } = await streamed();
  // So that something waits to be taken.
  while (!stream.taken()) void stream.write(`data: ${' '.repeat(100_000)}\n\n`);
  const before = response.writableLength;
  const wrapped: string[] = [];
  const pieces = inPieces(stream, (said) => {
    wrapped.push(said);
    return `data: ${JSON.stringify({ said, about: 'x'.repeat(200) })}\n\n`;
  });
  const words = Array.from({ length: 20_000 }, (_, n) => `${n} `);
  for (const word of words) pieces.add(word);
  assert.equal(response.writableLength, before, 'nothing more waits to be written');
  const heard = text(reader);
  await pieces.end();
  pieces.add('the end');
  await pieces.end();
  stream.end();
  assert.equal(wrapped.join(''), `${words.join('')}the end`);
  assert.equal(wrapped.length, 2);
  assert.ok((await heard).includes('19999 ","about"'));
  server.close();
});

test('streams are kept alive by one timer, each every 15 seconds from when it was opened', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const early = await streamed();
  t.mock.timers.tick(5_000);
  const late = await streamed();
  const heard = [early, late].map(({ response }) => {
    const said: unknown[] = [];
    response.write = ((chunk: unknown) => said.push(chunk) > 0) as ServerResponse['write'];
    return said;
  });
  const counts = (): number[] => heard.map(({ length }) => length);
  t.mock.timers.tick(9_000);
  assert.deepEqual(counts(), [0, 0]);
  t.mock.timers.tick(1_000);
  assert.deepEqual(counts(), [1, 0]);
  t.mock.timers.tick(5_000);
  assert.deepEqual(counts(), [1, 1]);
  early.stream.end();
  t.mock.timers.tick(30_000);
  assert.deepEqual(counts(), [1, 3], 'one that ended is written to no more');
  assert.deepEqual(heard[1]![0], ': keep-alive\n\n');
  late.stream.end();
  for (const { reader, server } of [early, late]) {
    await text(reader);
    server.close();
  }
});
