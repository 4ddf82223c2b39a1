import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { testServer } from '@troupe/testing/http/server';
import { freePort } from './listening.ts';

/** Whether somebody answers there over a connection of its own. */
async function isAnswered(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } catch {
    return false;
  }
  socket.write('GET /ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  let text = '';
  for await (const piece of socket) text += String(piece);
  return text.startsWith('HTTP/1.1 200');
}

test('every door of a service leads in, none is left open, and nobody else shares its port', async () => {
  const server = testServer();
  const port = Number(new URL(await server.listen(0, 'WEB_PORT')).port);
  // The system chooses the door by where a connection comes from: with so many, all of them.
  const answered = await Promise.all(Array.from({ length: 400 }, () => isAnswered(port)));
  assert.ok(answered.every(Boolean));
  await assert.rejects(freePort('127.0.0.1', port, 'WEB_PORT'), /is in use/);
  await assert.rejects(testServer().listen(port, 'WEB_PORT'), /is in use/);
  await server.close();
  assert.equal(await isAnswered(port), false);
  assert.equal(await freePort('127.0.0.1', port, 'WEB_PORT'), port);
});

/** The most that were begun in one turn of the loop when so many came together, all of whom were answered. */
async function begunAtOnce(count: number): Promise<number> {
  const server = testServer();
  const port = Number(new URL(await server.listen(0, 'WEB_PORT')).port);
  let begun = 0;
  let most = 0;
  let isOver = false;
  server.app.server.on('request', () => (begun += 1));
  const turn = (): void => {
    most = Math.max(most, begun);
    begun = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const answered = await Promise.all(Array.from({ length: count }, () => isAnswered(port)));
  isOver = true;
  await server.close();
  assert.ok(answered.every(Boolean));
  return most;
}

test('of those who come together a few are begun in a turn; of very many, all', async () => {
  assert.ok((await begunAtOnce(100)) <= 10);
  assert.ok((await begunAtOnce(600)) > 100);
});

test('who has come in and was not begun yet is answered when the server closes', async () => {
  const server = testServer();
  const port = Number(new URL(await server.listen(0, 'WEB_PORT')).port);
  const sockets = Array.from({ length: 60 }, () => net.connect(port, '127.0.0.1'));
  const texts = sockets.map(async (socket) => {
    socket.write('GET /ready HTTP/1.1\r\nhost: localhost\r\n\r\n');
    let text = '';
    for await (const piece of socket) text += String(piece);
    return text;
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await server.close();
  for (const text of await Promise.all(texts)) assert.match(text, /^HTTP\/1\.1 (?:200|503)/);
});
