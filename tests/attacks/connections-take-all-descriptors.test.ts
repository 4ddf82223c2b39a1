import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** 20,000 connections that say nothing, or half a request, took every descriptor of the process. */
const TOTAL = 300;
const FLOOD = 1500;
let scene: Scene;
const held = new Set<net.Socket>();
before(async () => {
  scene = await startScene({ MAX_CONNECTIONS: String(TOTAL) });
});
after(async () => {
  for (const socket of held) socket.destroy();
  await scene.stop();
});

function hold(base: string, words: string): Promise<void> {
  const { hostname, port } = new URL(base);
  const socket = net.connect(Number(port), hostname);
  held.add(socket);
  socket.on('close', () => held.delete(socket));
  return new Promise((resolve) => {
    socket.on('error', () => resolve());
    socket.on('connect', () => {
      if (words !== '') socket.write(words);
      resolve();
    });
  });
}

const descriptors = (): number => readdirSync(`/proc/${scene.program.pid}/fd`).length;

test('connections that ask for nothing are bounded, make room for those who ask, and end by themselves', async () => {
  const quiet = descriptors();
  const words = ['', 'GET /api/health HTTP/1.1\r\nhost: ', 'GET / HTTP/1.1\r\nupgrade: websocket\r\n'];
  await scene.unharmed(async () => {
    for (let made = 0; made < FLOOD; made += 100) {
      const wave = [scene.web, scene.backend, scene.summarizer].flatMap((base) =>
        Array.from({ length: 34 }, (_, n) => hold(base, words[n % words.length]!)),
      );
      await Promise.all(wave);
      assert.ok(descriptors() < quiet + 3 * TOTAL + 200, `${descriptors()} descriptors`);
    }
  });
  assert.ok(held.size > 0);
  // Of those that are left each is told that its time is over. A new attack has to begin anew.
  const last = await Promise.race([
    Promise.all([...held].map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)))),
    new Promise((resolve) => setTimeout(() => resolve('still open'), 60_000).unref()),
  ]);
  assert.notEqual(last, 'still open', `${held.size} connections are still open`);
});
