import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * Connections of which nobody reads anything, each following as many large conversations as it may. Each conversation had a
 * page of its own waiting, and all that an answer said meanwhile: fifty connections cost 195 MB for two minutes. What is
 * stored is read at a bounded rate of each owner, so that five of them are quicker than one.
 */
const OWNERS = 5;
const MOST_MB = 100;
const SOCKETS = 10;
const CONVERSATIONS = 16;
const MESSAGES = 6;
/** So long nothing more goes out. */
const STILL_MS = 3_000;
const FILL_MS = 60_000;
const SETTLE_MS = 20_000;

type Attacker = Scene['attacker'];

let scene: Scene;
const held: net.Socket[] = [];
before(async () => (scene = await startScene()));
after(async () => {
  for (const socket of held) socket.destroy();
  await scene.stop();
});

async function largeConversation({ agentId, id: userId }: Attacker): Promise<string> {
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
async function follow({ agentId }: Attacker, token: string, sessions: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(scene.backend);
  const socket = net.connect(Number(port), hostname);
  held.push(socket.on('error', () => undefined));
  socket.write(
    `GET /api/runtime/proxy/${agentId}/ws?token=${token} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${'A'.repeat(22)}==\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  assert.match(String(head), /^HTTP\/1\.1 101 /);
  socket.pause();
  for (const session of sessions) socket.write(frame(JSON.stringify({ type: 'watch', session })));
}

/** Bytes that the system keeps for them, on either side. */
function keptBySystem(): number {
  const ours = new Set(held.map(({ localPort }) => localPort));
  const queues = readFileSync('/proc/net/tcp', 'utf8').matchAll(/: \w+:(\w+) \w+:(\w+) \w+ (\w+):(\w+)/g);
  return [...queues]
    .map(([, ...numbers]) => numbers.map((number) => Number.parseInt(number, 16)))
    .filter(([from, to]) => ours.has(from) || ours.has(to))
    .reduce((sum, [, , sending = 0, unread = 0]) => sum + sending + unread, 0);
}

/** Until as much has gone out as the system takes: from then on what comes would wait in the process. */
async function filled(): Promise<void> {
  let kept = { bytes: 0, since: Date.now() };
  for (const end = Date.now() + FILL_MS; Date.now() - kept.since < STILL_MS || kept.bytes === 0; await delay(50)) {
    const bytes = keptBySystem();
    if (bytes !== kept.bytes) kept = { bytes, since: Date.now() };
    assert.ok(Date.now() < end, `after ${FILL_MS} ms something still goes out`);
  }
}

async function attack(owner: Attacker): Promise<void> {
  const token = await owner.token();
  const sessions: string[] = [];
  for (let n = 0; n < CONVERSATIONS; n += 1) sessions.push(await largeConversation(owner));
  await Promise.all(Array.from({ length: SOCKETS }, () => follow(owner, token, sessions)));
}

test('who follows by WebSocket and reads nothing is kept little for', { timeout: 180_000 }, async () => {
  const owners = [scene.attacker];
  while (owners.length < OWNERS) owners.push(await scene.person());
  const before = scene.memory();
  await scene.unharmed(async () => {
    await Promise.all(owners.map(attack));
    await filled();
  });
  // All of them are still there. What was garbage before is given back in a while.
  let grown = scene.memory() - before;
  for (const end = Date.now() + SETTLE_MS; grown >= MOST_MB && Date.now() < end; grown = scene.memory() - before)
    await delay(500);
  assert.ok(grown < MOST_MB, `the process grew by ${Math.round(grown)} MB`);
});
