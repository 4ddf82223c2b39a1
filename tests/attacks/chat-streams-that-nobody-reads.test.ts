import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps } from '@troupe/testing/services/director';

/**
 * Answers that are streamed to somebody who reads nothing of them. Each word waited in a wrapping of its own, which was a
 * hundred times what it said.
 */
const STREAMS = 40;
const WORDS = 5_000;

let scene: Scene;
let token: string;
const held: net.Socket[] = [];
before(async () => {
  scene = await startScene();
  token = await scene.attacker.token();
});
after(async () => {
  for (const socket of held) socket.destroy();
  await scene.stop();
});

/** Asks, and takes nothing but the first words of the answer. */
async function unread(base: string, path: string, headers: readonly string[], body: object): Promise<number> {
  const { hostname, port, host } = new URL(base);
  const socket = net.connect(Number(port), hostname);
  held.push(socket.on('error', () => undefined));
  const text = JSON.stringify(body);
  const head = [`host: ${host}`, 'content-type: application/json', `content-length: ${text.length}`, ...headers];
  socket.write(`POST ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${text}`);
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(first.toString('latin1'))?.[1]);
}

const long = (n: number): string => steps({ say: `${n}: ${'a '.repeat(WORDS)}` });

function ask(n: number): Promise<number> {
  const { attacker, web, backend } = scene;
  if (n % 2 === 0) {
    const headers = [`cookie: ${attacker.cookie}`, 'accept: text/event-stream'];
    return unread(web, '/api/chat', headers, { agentId: attacker.agentId, topic: `t${n}`, message: long(n) });
  }
  const path = `/api/runtime/proxy/${attacker.agentId}/v1/chat/completions`;
  const messages = [{ role: 'user', content: long(n) }];
  return unread(backend, path, [`authorization: Bearer ${token}`], { stream: true, messages });
}

/** Each is a conversation of its own, beside the first one's. */
async function allAnswered(streams: number): Promise<void> {
  const { system } = scene.database.db;
  const look = () =>
    sql<{ all: number; open: number }>`
    select count(*)::integer as all, (count(*) filter (where status = 'open'))::integer as open
    from agent_sessions where user_id = ${scene.attacker.id}`.execute(system);
  for (const until = Date.now() + 60_000; ; await delay(100)) {
    const [{ all, open } = { all: 0, open: 0 }] = (await look()).rows;
    if (all > streams && open === 0) return;
    assert.ok(Date.now() < until, `of ${streams} answers ${all - 1} have begun, and ${open} not ended`);
  }
}

test('what is said to who reads nothing is kept once, and nobody waits', { timeout: 180_000 }, async () => {
  // Whatever an answer takes at first.
  await scene.attacker.chat({ say: 'a '.repeat(WORDS) });
  const before = scene.memory();
  let grown = 0;
  await scene.unharmed(async () => {
    const statuses = await Promise.all(Array.from({ length: STREAMS }, (_, n) => ask(n)));
    assert.deepEqual(
      statuses.filter((status) => status !== 200 && status !== 429),
      [],
    );
    assert.ok(statuses.includes(200));
    await allAnswered(statuses.filter((status) => status === 200).length);
    grown = scene.memory() - before;
  });
  assert.ok(grown < 100, `the process grew by ${Math.round(grown)} MB`);
});
