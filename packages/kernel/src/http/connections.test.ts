import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { after, test } from 'node:test';
import {
  boundConnections,
  connectionBounds,
  descriptorLimit,
  isLoopback,
  type ConnectionBounds,
} from './connections.ts';
import { testServer } from '@troupe/testing/http/server';

const ends: (() => unknown)[] = [];
after(async () => {
  for (const end of ends.toReversed()) await end();
});

/** Answers at once, but for `/slow`, which is answered when `finish` is called. */
async function start(bounds: Partial<ConnectionBounds>) {
  const slow: http.ServerResponse[] = [];
  const server = http.createServer((request, response) => {
    if (request.url === '/slow') return void slow.push(response);
    // As whoever reads its body does when that breaks off (streams of Node, undici).
    if (request.url === '/lost') Object.assign(request, { socket: null });
    response.end('here');
  });
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {}).on('end', () => socket.destroy());
    socket.resume().write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  });
  boundConnections(server, { total: 6, perAddress: 3, sharedBy: () => true, ...bounds });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  ends.push(() => server.closeAllConnections());
  const { port } = server.address() as net.AddressInfo;
  return {
    atWork: () => slow.length,
    finish: () => slow.splice(0).forEach((response) => response.end('done')),
    client: (from = '127.0.0.1') => client(port, from),
  };
}

async function client(port: number, localAddress: string) {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress });
  let text = '';
  let more = Promise.withResolvers<void>();
  const moved = (): void => {
    more.resolve();
    more = Promise.withResolvers<void>();
  };
  socket.on('data', (chunk) => {
    text += String(chunk);
    moved();
  });
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  void closed.then(moved);
  ends.push(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  const hears = async (word: string): Promise<void> => {
    while (!text.includes(word)) {
      assert.ok(!socket.destroyed, `closed after "${text}"`);
      await more.promise;
    }
    text = '';
  };
  const send = (path: string, head = ''): void =>
    void socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${head}\r\n`);
  return {
    send,
    hears,
    closed,
    async asks(): Promise<void> {
      send('/');
      await hears('here');
    },
    async upgrades(): Promise<void> {
      send('/', 'connection: upgrade\r\nupgrade: websocket\r\n');
      await hears('101');
    },
    isOpen: () => !socket.destroyed,
  };
}

test('at the bound the oldest connection without a request makes room, and nobody who asked is cut off', async () => {
  const { client: connect, finish } = await start({});
  const idle = await connect();
  await idle.asks();
  const busy = await connect();
  busy.send('/slow');
  const socket = await connect();
  await socket.upgrades();
  const silent = [await connect(), await connect(), await connect()];
  // The server has seen all six only when it has seen the last one.
  const newcomer = await connect();
  await newcomer.asks();
  await silent[0]!.closed;
  assert.deepEqual(
    [idle, busy, socket, ...silent.slice(1)].map(({ isOpen }) => isOpen()),
    Array(5).fill(true),
  );
  for (let n = 0; n < 3; n += 1) await (await connect()).asks();
  await Promise.all([...silent.slice(1), idle].map(({ closed }) => closed));
  assert.deepEqual([busy.isOpen(), socket.isOpen()], [true, true]);
  finish();
  await busy.hears('done');
});

test('when every connection is at work, one more is told so and goes', async () => {
  const { client: connect, finish } = await start({ total: 2 });
  const busy = [await connect(), await connect()];
  await busy[0]!.upgrades();
  busy[1]!.send('/slow');
  const free = await connect();
  assert.match(await free.closed, /^HTTP\/1\.1 503 .*retry-after: 5.*Too many connections/s);
  finish();
  await busy[1]!.hears('done');
  const next = await connect();
  await next.asks();
});

test('whoever is refused while its request comes hears why, however long that is', { timeout: 60_000 }, async () => {
  const { client: connect, finish, atWork } = await start({ total: 1 });
  const busy = await connect();
  busy.send('/slow');
  while (atWork() < 1) await new Promise(setImmediate);
  // What is sent after the refusal, too: a connection that was closed with it unread would be reset.
  const refused = await connect();
  for (let n = 0; n < 20; n += 1) {
    refused.send(`/${'x'.repeat(60_000)}`);
    await new Promise(setImmediate);
  }
  assert.match(await refused.closed, /^HTTP\/1\.1 503 .*retry-after: 5.*Too many connections/s);
  finish();
  await busy.hears('done');
});

test('whoever came a moment ago is not cut off for the next: it may have asked already', async () => {
  const { client: connect } = await start({ total: 2, spare: 4, graceMs: 60_000 });
  const early = [await connect(), await connect()];
  for (let n = 0; n < 3; n += 1) {
    const late = await connect();
    late.send('/');
    assert.match(await late.closed, /connection: close[^]*here/i);
  }
  for (const one of early) await one.asks();
  // And one that rests between two requests.
  const late = await connect();
  late.send('/');
  assert.match(await late.closed, /here/);
  for (const one of early) await one.asks();
});

test('one address holds no more than its part, and another one is answered', async () => {
  const { client: connect } = await start({ sharedBy: () => false });
  const held = [];
  for (let n = 0; n < 3; n += 1) {
    const one = await connect('127.0.0.2');
    await one.upgrades();
    held.push(one);
  }
  assert.match(await (await connect('127.0.0.2')).closed, /503/);
  await (await connect('127.0.0.3')).asks();
  assert.ok(held.every(({ isOpen }) => isOpen()));
});

test('whoever asks on and on without waiting for answers is cut off, and what else it sent is not read', async () => {
  let begun = 0;
  const server = http.createServer((request, response) => {
    begun += 1;
    request.resume();
    setTimeout(() => response.end('here'), 20);
  });
  boundConnections(server, { total: 6, perAddress: 3, sharedBy: () => true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as net.AddressInfo;
  const asked = async (times: number): Promise<number> => {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    let text = '';
    socket.on('data', (piece: Buffer) => (text += piece.toString()));
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(times - 1));
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    // Not `once`, which takes a connection that is reset for a failure.
    await new Promise((resolve) => socket.on('close', resolve));
    return text.split('HTTP/1.1 200').length - 1;
  };
  assert.deepEqual([await asked(8), begun], [8, 8], 'a few are answered');
  begun = 0;
  assert.deepEqual([await asked(1500), begun], [0, 8]);
});

test('an answer whose request has lost its socket is over as any other', async () => {
  const { client: connect } = await start({});
  const { send, hears } = await connect();
  for (let n = 0; n < 20; n += 1) {
    send('/lost');
    await hears('here');
  }
});

test('the bounds leave descriptors for everything else, and are not for proxies or this machine', () => {
  const settings = { MAX_CONNECTIONS: 10_000, MAX_CONNECTIONS_PER_ADDRESS: 500, TRUST_PROXY: 0 };
  const few = connectionBounds(settings, 1200);
  assert.deepEqual([few.total, few.perAddress], [200, 50]);
  const many = connectionBounds(settings, Infinity);
  assert.deepEqual([many.total, many.perAddress], [10_000, 500]);
  assert.deepEqual([many.sharedBy('127.0.0.1'), many.sharedBy('10.0.0.1')], [true, false]);
  assert.equal(connectionBounds({ ...settings, TRUST_PROXY: 1 }).sharedBy('10.0.0.1'), true);
  assert.ok(descriptorLimit() > 100);
  assert.ok(['::1', '::ffff:127.0.0.1', '127.9.9.9'].every(isLoopback));
  assert.ok(!['10.0.0.1', '127.evil'].some(isLoopback));
});

test('behind a proxy a client has so many requests under way, and the next one waits', async () => {
  const server = testServer({ env: { TRUST_PROXY: '1', MAX_CONNECTIONS_PER_ADDRESS: '4' } });
  const waiting: (() => void)[] = [];
  server.app.get('/slow', () => new Promise((resolve) => waiting.push(() => resolve({}))));
  const ask = (from: string) => server.app.inject({ url: '/slow', headers: { 'x-forwarded-for': from } });
  const asked = Array.from({ length: 4 }, () => ask('10.0.0.1'));
  while (waiting.length < 4) await new Promise((resolve) => setImmediate(resolve));
  const one = await ask('10.0.0.1');
  assert.deepEqual([one.statusCode, one.headers['retry-after']], [429, '5']);
  const other = ask('10.0.0.2');
  while (waiting.length < 5) await new Promise((resolve) => setImmediate(resolve));
  waiting.splice(0).forEach((finish) => finish());
  assert.deepEqual(
    (await Promise.all([...asked, other])).map(({ statusCode }) => statusCode),
    Array(5).fill(200),
  );
  const again = ask('10.0.0.1');
  while (waiting.length < 1) await new Promise((resolve) => setImmediate(resolve));
  waiting[0]!();
  assert.equal((await again).statusCode, 200);
  await server.close();
});

test(
  'beyond the bound some are told in words, that they are heard once and not kept',
  { timeout: 60_000 },
  async () => {
    const { client, finish, atWork } = await start({ total: 2, spare: 1 });
    const [first, second] = [await client(), await client()];
    first.send('/slow');
    second.send('/slow');
    while (atWork() < 2) await new Promise(setImmediate);
    const third = await client();
    const fourth = await client();
    assert.match(await fourth.closed, /^HTTP\/1\.1 503/);
    third.send('/');
    assert.match(await third.closed, /connection: close[^]*here/i);
    const fifth = await client();
    fifth.send('/', 'connection: upgrade\r\nupgrade: websocket\r\n');
    assert.match(await fifth.closed, /^HTTP\/1\.1 503/);
    finish();
    await first.hears('done');
    await second.hears('done');
  },
);

test(
  'a server of ours that has no connection left says so as any refusal, and that it is ready',
  { timeout: 60_000 },
  async () => {
    const server = testServer({ env: { MAX_CONNECTIONS: '16' } });
    const waiting: (() => void)[] = [];
    server.app.get('/slow', () => new Promise((resolve) => waiting.push(() => resolve({}))));
    const { port } = new URL(await server.listen(0, 'WEB_PORT'));
    ends.push(() => server.close());
    const busy = [];
    for (let n = 0; n < 16; n += 1) {
      const one = await client(Number(port), '127.0.0.1');
      one.send('/slow');
      busy.push(one);
    }
    while (waiting.length < 16) await new Promise(setImmediate);
    const refused = await client(Number(port), '127.0.0.1');
    refused.send('/other');
    const text = await refused.closed;
    assert.match(text, /^HTTP\/1\.1 503/);
    for (const part of [/retry-after: 2/i, /connection: close/i, /"The service is busy\. Try again in a moment\."/])
      assert.match(text, part);
    const asking = await client(Number(port), '127.0.0.1');
    asking.send('/ready');
    assert.match(await asking.closed, /^HTTP\/1\.1 200[^]*"ready":true/);
    for (const answer of waiting) answer();
  },
);

test('a connection that rests keeps nothing of what was asked on it', async () => {
  const server = http.createServer((_request, response) => void response.end('here'));
  const { all } = boundConnections(server, { total: 6, perAddress: 3, sharedBy: () => true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  ends.push(() => server.closeAllConnections());
  const agent = new http.Agent({ keepAlive: true });
  ends.push(() => agent.destroy());
  const { port } = server.address() as net.AddressInfo;
  for (let n = 0; n < 20; n += 1) {
    const [response] = (await once(http.get({ port, host: '127.0.0.1', agent }), 'response')) as [http.IncomingMessage];
    response.resume();
    await once(response, 'close');
  }
  while (all()[0]?.response !== undefined) await new Promise(setImmediate);
  assert.equal(all().length, 1, 'more requests than may come without waiting, all on one connection');
});
