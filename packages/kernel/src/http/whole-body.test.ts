import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { fastify } from 'fastify';
import { sha256Hex } from '../secrets.ts';
import { readWhole } from './whole-body.ts';

const MOST = 100_000;
const app = fastify({ bodyLimit: MOST });
let port: number;
const failures = new EventEmitter();

before(async () => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request, payload, done) => {
    readWhole(request, payload, (error, body) => {
      if (error) failures.emit('one', error);
      done(error, body);
    });
  });
  app.post('/', async ({ body }) => ({
    read: body instanceof Buffer ? sha256Hex(body.toString('latin1')) : 'nothing',
  }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = app.server.address() as AddressInfo);
});
after(() => app.close());

const BYTES = Buffer.from(Array.from({ length: MOST }, (_, n) => n % 251));

/** What is answered to a head and pieces, each written when the one before is on its way. */
async function answerTo(head: string, pieces: readonly (string | Buffer)[], leave = false): Promise<string> {
  const socket = net.connect(port, '127.0.0.1').setNoDelay();
  let heard = '';
  socket.on('error', () => {}).on('data', (piece: Buffer) => (heard += piece.toString()));
  const all = [`POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: a/b\r\n${head}\r\n\r\n`, ...pieces];
  for (const one of all) await new Promise<void>((resolve) => socket.write(one, () => resolve()));
  if (leave) socket.destroy();
  await new Promise((resolve) => socket.once('close', resolve));
  return heard;
}

const chunk = (piece: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
const cut = (bytes: Buffer): Buffer[] => [bytes.subarray(0, 1), bytes.subarray(1, 70_000), bytes.subarray(70_000)];

test('what is said to be so long, and what does not say it, is read whole', async () => {
  for (const bytes of [BYTES, BYTES.subarray(0, 5), Buffer.alloc(0)]) {
    const is = new RegExp(`"read":"${sha256Hex(bytes.toString('latin1'))}"`);
    assert.match(await answerTo(`content-length: ${bytes.length}`, cut(bytes)), is);
    const chunks = cut(bytes).filter(({ length }) => length > 0);
    assert.match(await answerTo('transfer-encoding: chunked', [...chunks.map(chunk), '0\r\n\r\n']), is);
  }
});

test('more than may come is refused: before it comes where that is said, else as soon as it is too much', async () => {
  assert.match(await answerTo(`content-length: ${MOST + 1}`, []), /^HTTP\/1\.1 413 /);
  const pieces = [...cut(BYTES), Buffer.from('x')].map(chunk);
  assert.match(await answerTo('transfer-encoding: chunked', pieces), /^HTTP\/1\.1 413 /);
});

test('who goes in the middle of it is told of', async () => {
  for (const head of [`content-length: ${MOST}`, 'transfer-encoding: chunked']) {
    const piece = head.startsWith('t') ? chunk(Buffer.alloc(100)) : Buffer.alloc(100);
    const failed = once(failures, 'one');
    assert.equal(await answerTo(head, [piece], true), '');
    assert.match(String(await failed), /aborted/);
  }
});
