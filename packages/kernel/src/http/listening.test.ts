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
