import assert from 'node:assert/strict';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { fastify } from 'fastify';
import { boundPieces, SMALL_PIECES } from './small-pieces.ts';

const seen: number[] = [];
let port: number;
const app = fastify({
  bodyLimit: 8 * 1024 * 1024,
  serverFactory: (handler) => http.createServer(handler),
  clientErrorHandler: (error, socket) => {
    socket.end(`HTTP/1.1 400 ${error.code === SMALL_PIECES ? 'pieces' : 'other'}\r\n\r\n`, () => socket.destroy());
  },
});

before(async () => {
  boundPieces(app.server);
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post('/', async ({ body }) => ({ bytes: (body as Buffer).length }));
  app.addHook('preParsing', (_request, _reply, payload, done) => {
    let pieces = 0;
    payload.on('data', () => (seen[0] = pieces += 1));
    done(null, payload);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = app.server.address() as AddressInfo);
});
after(() => app.close());

/** What is answered to a body of these pieces. */
async function post(pieces: Iterable<string>): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  let heard = '';
  socket.on('error', () => {}).on('data', (piece: Buffer) => (heard += piece.toString()));
  const head = ['POST / HTTP/1.1', 'host: x', 'content-type: a/b', 'transfer-encoding: chunked', 'connection: close'];
  const chunks = [...pieces].map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  socket.write(`${head.join('\r\n')}\r\n\r\n${chunks.join('')}0\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  return heard;
}

test('a body of bytes one by one is refused, and not read to its end', async () => {
  assert.match(await post('x'.repeat(500_000)), /^HTTP\/1\.1 400 pieces/);
  assert.ok(seen[0]! <= 1000, `${seen[0]} pieces were read`);
});

test('a parser that was told to stop serves the next connection', async () => {
  for (let n = 0; n < 5; n += 1) {
    assert.match(await post('x'.repeat(50_000)), /400 pieces/);
    assert.match(await post(['hello', ' you']), /"bytes":9/);
  }
});

test('a body in large pieces or in a few small ones is read', async () => {
  assert.match(await post('x'.repeat(900)), /"bytes":900/);
  assert.match(await post(Array(12_000).fill('x'.repeat(300)) as string[]), /"bytes":3600000/);
});
