import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';

/**
 * Forty live streams, each following eight of one's own large conversations, read the database until nobody else was
 * answered (502, and 1.7 GB); and streams on a stopped agent used up all that their owner may call.
 */

const MESSAGES = 60;
const CONVERSATIONS = 8;
const STREAMS = 40;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

/** Of about 15 MB each, as an hour of long messages makes them. */
async function largeConversations(): Promise<string[]> {
  const { attacker, database } = scene;
  const { system } = database.db;
  const ids = Array.from({ length: CONVERSATIONS }, newId);
  for (const id of ids) {
    await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, status, last_seq)
      values (${id}, ${attacker.agentId}, ${attacker.id}, 'api', ${id}, 'idle', ${MESSAGES})`.execute(system);
    await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
      select ${id}, n, ${attacker.agentId}, ${attacker.id},
        jsonb_build_object('type', 'user', 'content', repeat(md5(n::text), 8000))
      from generate_series(1, ${MESSAGES}::integer) n`.execute(system);
  }
  return ids;
}

interface Stream {
  status: number;
  response: http.IncomingMessage;
  close: () => void;
}

/** Opened and not read. */
async function follow(watch: string): Promise<Stream> {
  const request = http.get(`${scene.web}/api/live?watch=${watch}`, {
    headers: { cookie: scene.attacker.cookie },
    agent: false,
  });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.on('error', () => undefined).pause();
  return { status: response.statusCode ?? 0, response, close: () => request.destroy() };
}

test('who follows all that one may holds up nobody, reading or not', { timeout: 240_000 }, async () => {
  const ids = await largeConversations();
  const watch = ids.map((id) => `${scene.attacker.agentId}:${id}:0`).join();
  const before = scene.memory();
  const streams: Stream[] = [];
  await scene.unharmed(async () => {
    streams.push(...(await Promise.all(Array.from({ length: STREAMS }, () => follow(watch)))));
    await delay(4000);
    for (const { response } of streams) response.resume();
    await delay(4000);
  });
  const grown = scene.memory() - before;
  for (const stream of streams) stream.close();
  assert.ok(grown < 400, `the process grew by ${Math.round(grown)} MB`);
  const open = streams.filter(({ status }) => status === 200);
  assert.deepEqual([open.length, streams.length - open.length], [8, 32], 'sixty-four conversations of one user');
  assert.ok(streams.every(({ status }) => status === 200 || status === 429));
});

test('and what is read so slowly comes whole, in order', { timeout: 60_000 }, async () => {
  const [id = ''] = await largeConversations();
  const [read, left] = [40, MESSAGES - 40];
  const stream = await follow(`${scene.attacker.agentId}:${id}:${read},${scene.attacker.agentId}:${id}:${read}`);
  let text = '';
  stream.response.setEncoding('utf8').on('data', (piece: string) => (text += piece.replaceAll(/[0-9a-f]{32}/g, '')));
  stream.response.resume();
  const seen = (): number[] => [...text.matchAll(/"seq":(\d+)/g)].map(([, seq]) => Number(seq));
  while (seen().length < left) await once(stream.response, 'data');
  stream.close();
  const all = Array.from({ length: left }, (_, index) => read + index + 1);
  assert.deepEqual(seen(), all, 'each once, though it was named twice');
});

test('who follows a stopped agent can still call the others', { timeout: 60_000 }, async () => {
  const { attacker, web } = scene;
  const made = await attacker.ask('POST', '/api/agents/provision', { name: 'Bea' });
  const bea = made.body.agent.id as string;
  assert.equal((await attacker.askBackend('POST', `/api/agents/${bea}/stop`, {})).status, 200);
  const streams = await Promise.all(
    Array.from({ length: 5 }, (_, n) =>
      follow(Array.from({ length: CONVERSATIONS }, (_none, m) => `${bea}:conversation-${n}-${m}:0`).join()),
    ),
  );
  // As a browser asks, so that it counts for the account.
  for (let n = 0; n < 20; n += 1) {
    const path = `${web}/api/agents/${attacker.agentId}/sessions`;
    const { status, body } = await send(path, 'GET', undefined, { cookie: attacker.cookie });
    assert.equal(status, 200, JSON.stringify(body));
    await delay(300);
  }
  for (const stream of streams) stream.close();
});
