import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * All connections that an agent has, each following a large conversation, of which nobody reads anything. What is stored is
 * read at a bounded rate, so that it takes minutes until much waits; that such a reader is let go by then is tested beside
 * the bounds of sockets.
 */
const SOCKETS = 50;
const MESSAGES = 60;

let scene: Scene;
let token: string;
const held: net.Socket[] = [];
before(async () => {
  scene = await startScene();
  token = (await scene.attacker.ask('GET', `/api/agents/${scene.attacker.agentId}/token`)).body.token;
});
after(async () => {
  for (const socket of held) socket.destroy();
  await scene.stop();
});

async function largeConversation(): Promise<string> {
  const { agentId, id: userId } = scene.attacker;
  const { system } = scene.database.db;
  const id = newId();
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, status, last_seq)
    values (${id}, ${agentId}, ${userId}, 'api', ${id}, 'idle', ${MESSAGES})`.execute(system);
  await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
    select ${id}, n, ${agentId}, ${userId}, jsonb_build_object('type', 'user', 'content', repeat(md5(n::text), 8000))
    from generate_series(1, ${MESSAGES}::integer) n`.execute(system);
  return id;
}

/** A text as a client sends it: masked, here with nothing. */
function frame(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length, 0, 0, 0, 0]), bytes]);
}

/** Follows, and takes nothing of what comes but the first words. */
async function follow(session: string): Promise<void> {
  const { hostname, port } = new URL(scene.backend);
  const socket = net.connect(Number(port), hostname);
  held.push(socket.on('error', () => undefined));
  socket.write(
    `GET /api/runtime/proxy/${scene.attacker.agentId}/ws?token=${token} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${'A'.repeat(22)}==\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  assert.match(String(head), /^HTTP\/1\.1 101 /);
  socket.pause();
  socket.write(frame(JSON.stringify({ type: 'watch', session })));
}

test('who follows by WebSocket and reads nothing is kept little for', { timeout: 120_000 }, async () => {
  const session = await largeConversation();
  const before = scene.memory();
  await scene.unharmed(async () => {
    await Promise.all(Array.from({ length: SOCKETS }, () => follow(session)));
    await delay(6000);
  });
  const grown = scene.memory() - before;
  assert.ok(grown < 150, `the process grew by ${Math.round(grown)} MB`);
});
