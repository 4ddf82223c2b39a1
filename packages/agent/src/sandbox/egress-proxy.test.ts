import assert from 'node:assert/strict';
import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createEgressProxy, type EgressProxy } from './egress-proxy.ts';

const SAYS: Record<string, string> = {
  '/000': 'HTTP/1.1 000 OK\r\n\r\nhi',
  '/999': 'HTTP/1.1 999 Odd\r\n\r\nhi',
  '/nonsense': 'SSH-2.0-OpenSSH_9\r\n',
  '/huge': `HTTP/1.1 200 OK\r\nx-huge: ${'a'.repeat(60_000)}\r\n\r\n`,
  '/many': `HTTP/1.1 200 OK\r\n${Array.from({ length: 150 }, (_, index) => `x-${index}: 1\r\n`).join('')}\r\n`,
  '/interim': 'HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n'.repeat(1000),
  '/switch': 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  '/trailer': 'HTTP/1.1 200 OK\r\ntrailer: x\r\ncontent-length: 2\r\n\r\nhi',
  '/cookie': 'HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 2\r\n\r\nhi',
  '/pieces': `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(40_000)}0\r\n\r\n`,
  '/chunks': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n',
};
const open = new Set<Socket>();
let proxy: EgressProxy;
let port: number;
const server = net.createServer((socket) => {
  open.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('data', (head) => socket.end(SAYS[/ (\S+) /.exec(String(head))?.[1] ?? ''] ?? ''));
});

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  proxy = await createEgressProxy({ allowedDomains: ['127.0.0.1'], rules: { allowLoopback: true }, ports: [port] });
});
after(async () => {
  await proxy.close();
  for (const socket of open) socket.destroy();
  server.close();
});

const get = (path: string): Promise<{ status: number; headers: http.IncomingHttpHeaders; body: string }> =>
  new Promise((resolve, reject) => {
    const request = http.get({ socketPath: proxy.socketPath, path: `http://127.0.0.1:${port}${path}`, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      let body = '';
      response.on('data', (chunk) => (body += String(chunk)));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
  });

for (const path of ['/000', '/999', '/nonsense', '/huge', '/many', '/interim', '/switch'])
  test(`a server that answers as ${path} gets the command a 502 with a sentence`, async () => {
    const { status, body } = await get(path);
    assert.equal(status, 502);
    assert.match(body, /^The other side [\w ,]+\n$/);
  });

test('what is in order is passed on', async () => {
  assert.equal((await get('/trailer')).body, 'hi');
  const { status, headers, body } = await get('/cookie');
  assert.deepEqual([status, headers['set-cookie'], body], [200, ['a=b'], 'hi']);
});

test('an answer that breaks off breaks off', async () => {
  await assert.rejects(get('/chunks'));
});

test('an answer in pieces of a byte breaks off: each costs as much as a large one', async () => {
  await assert.rejects(get('/pieces'));
});

/** What is answered to words that are written at once. */
async function say(words: string): Promise<string> {
  const socket = net.connect(proxy.socketPath);
  let heard = '';
  socket.on('error', () => {}).on('data', (piece: Buffer) => (heard += piece.toString('latin1')));
  socket.write(words);
  await new Promise((resolve) => socket.once('close', resolve));
  return heard;
}

test('a command that asks without waiting is not heard to the end', async () => {
  const before = open.size;
  await say(`GET http://127.0.0.1:${port}/cookie HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(500));
  assert.ok(open.size - before <= 8, `${open.size - before} connections were made for it`);
});

test('a body in pieces of a byte is not read to its end', async () => {
  const head = `POST http://127.0.0.1:${port}/cookie HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
  const heard = await say(`${head}${'1\r\nx\r\n'.repeat(40_000)}`);
  assert.doesNotMatch(heard, /200 OK/);
});

test('a command asks no more often than the loop can answer beside all others', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const began = performance.now();
  for (let n = 0; n < 300; n += 1) {
    const request = http.get({ socketPath: proxy.socketPath, path: 'http://elsewhere.test/', agent });
    await new Promise<void>((resolve, reject) => {
      request.on('error', reject).on('response', (response) => response.resume().once('end', resolve));
    });
  }
  agent.destroy();
  // A second's worth at once, at most, and the rest in half a second.
  assert.ok(performance.now() - began > 400, `${performance.now() - began} ms`);
});

test('a command cannot take all descriptors of the platform', async () => {
  const sockets = Array.from({ length: 300 }, () => net.connect(proxy.socketPath));
  let closed = 0;
  await new Promise<void>((resolve) => {
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.on('close', () => {
        if (++closed === 300 - 64) resolve();
      });
    }
  });
  for (const socket of sockets) socket.destroy();
});
