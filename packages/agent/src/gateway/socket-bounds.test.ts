import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocketServer, type WebSocket } from 'ws';
import { createPatience, Readers, SOCKET_BOUNDS } from './socket-bounds.ts';

let server: WebSocketServer;
before(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
});
after(() => server.close());

const HEAD = [
  'GET / HTTP/1.1',
  'host: localhost',
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  `sec-websocket-key: ${'A'.repeat(22)}==`,
].join('\r\n');

/** Both ends of a connection. */
async function connected(): Promise<{ socket: WebSocket; client: net.Socket }> {
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write(`${HEAD}\r\n\r\n`);
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  return { socket, client };
}

const STALLED_MS = 2000;

/** Sends for as long as the other side is there, with a quarter of a megabyte waiting at most. */
async function feed(socket: WebSocket): Promise<void> {
  const beginWrite = createPatience(socket, STALLED_MS);
  while (socket.readyState === socket.OPEN)
    if (socket.bufferedAmount < SOCKET_BOUNDS.followedBytes) socket.send('x'.repeat(100_000), beginWrite());
    else await delay(10);
}

test('who takes nothing of what waits is let go, who takes it slowly is not', async () => {
  const idle = await connected();
  const began = performance.now();
  idle.client.pause();
  await feed(idle.socket);
  assert.ok(performance.now() - began >= STALLED_MS);
  const slow = await connected();
  slow.client.pause();
  const fed = feed(slow.socket).then(() => 'let go');
  const reading = (async () => {
    for (const end = AbortSignal.timeout(3 * STALLED_MS); !end.aborted; await delay(20)) slow.client.read();
    return 'still here';
  })();
  assert.equal(await Promise.race([fed, reading]), 'still here');
  for (const { client } of [idle, slow]) client.destroy();
  await fed;
});

test('who takes all of it is not watched any more', async () => {
  const { socket, client } = await connected();
  client.resume();
  // longer than a busy machine lets us wait for our turn
  const patienceMs = 700;
  const beginWrite = createPatience(socket, patienceMs);
  for (let n = 0; n < 20; n += 1) socket.send('x'.repeat(100_000), beginWrite());
  await delay(3 * patienceMs);
  assert.equal(socket.readyState, socket.OPEN);
  client.destroy();
});

/** More than the system takes for a connection of which nobody reads, and then so much as is said. */
async function letWait(socket: WebSocket, bytes: number): Promise<void> {
  while (socket.bufferedAmount < bytes) {
    socket.send('x'.repeat(50_000));
    await delay(1);
  }
}

test('of an owner’s connections, those for which most waits make room for the others', async () => {
  const most = 1_000_000;
  const readers = new Readers(most);
  const [least, more, reading, others] = [await connected(), await connected(), await connected(), await connected()];
  for (const { socket } of [least, more, reading]) readers.add('ada', socket);
  readers.add('bob', others.socket);
  for (const { client } of [least, more, others]) client.pause();
  reading.client.resume();
  await letWait(others.socket, most);
  await letWait(least.socket, 300_000);
  await letWait(more.socket, 600_000);
  readers.bound('ada');
  assert.equal(more.socket.readyState, more.socket.OPEN, 'it is little enough for all of them');
  await letWait(more.socket, 800_000);
  readers.bound('ada');
  const isOpen = ({ socket }: { socket: WebSocket }): boolean => socket.readyState === socket.OPEN;
  assert.deepEqual([least, more, reading, others].map(isOpen), [true, false, true, true]);
  for (const { client } of [least, more, reading, others]) client.destroy();
});

test('what waits for everybody is bounded, too: the owner for whom most waits makes room', async () => {
  const readers = new Readers(10_000_000, 1_000_000);
  const [first, second, others] = [await connected(), await connected(), await connected()];
  for (const { socket } of [first, second]) readers.add('ada', socket);
  readers.add('bob', others.socket);
  for (const { client } of [first, second, others]) client.pause();
  await letWait(first.socket, 300_000);
  await letWait(second.socket, 400_000);
  readers.bound('ada');
  await letWait(others.socket, 500_000);
  readers.bound('bob');
  const isOpen = ({ socket }: { socket: WebSocket }): boolean => socket.readyState === socket.OPEN;
  assert.deepEqual([first, second, others].map(isOpen), [true, false, true]);
  // Who has gone does not count any more.
  await once(second.socket, 'close');
  readers.bound('bob');
  assert.deepEqual([first, others].map(isOpen), [true, true]);
  for (const { client } of [first, second, others]) client.destroy();
});
