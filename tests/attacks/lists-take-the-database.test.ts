import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import type { Body } from '@troupe/testing/services/people';

/**
 * Counting an agent's messages read each of them, and who waits in an inbox was found in the square of how many do: sixty
 * such calls of one user, of seconds each, took every connection to the database. Others were answered with 503.
 */

const AT_ONCE = 60;

let scene: Scene;
before(async () => {
  scene = await startScene();
  for (let n = 0; n < 12; n += 1) await conversation(60, 'idle', 'user', 256);
  await conversation(3000, 'waiting', 'approval_requested', 0);
});
after(() => scene.stop());

/** As a user makes them in a quarter of an hour, at 256 KB a message. */
async function conversation(events: number, status: string, type: string, kb: number): Promise<void> {
  const { id: userId, agentId } = scene.attacker;
  const { system } = scene.database.db;
  const id = newId();
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, status, last_seq)
    values (${id}, ${agentId}, ${userId}, 'api', ${id}, ${status}, ${events})`.execute(system);
  await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
    select ${id}, n, ${agentId}, ${userId}, jsonb_build_object('type', ${type}::text,
      'content', repeat(md5(n::text), ${kb * 32}), 'approvalId', ${id} || n, 'callId', 'c' || n, 'tool', 'write_file',
      'args', repeat(md5(n::text), 100)) from generate_series(1, ${events}::integer) n`.execute(system);
}

const LISTS: [what: string, path: () => string, check: (body: Body) => void][] = [
  [
    'the conversations of an agent',
    () => `/api/agents/${scene.attacker.agentId}/sessions?limit=100`,
    (body) => assert.equal(body.sessions.length, 13),
  ],
  [
    'the messages of an agent',
    () => `/api/agents/${scene.attacker.agentId}/messages?limit=100`,
    (body) => assert.deepEqual([body.total, body.hasMore], [720, true]),
  ],
  [
    'what all of their agents said',
    () => '/api/search?q=nobody+said+this',
    (body) => assert.deepEqual([body.conversations, body.files], [[], []]),
  ],
  ['an inbox', () => '/api/inbox', (body) => assert.deepEqual([body.items.length, body.hasMore], [100, true])],
];

for (const [what, path, check] of LISTS) {
  test(`who asks often for ${what} takes it from nobody`, { timeout: 180_000 }, async () => {
    await scene.unharmed(async () => {
      const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => scene.attacker.ask('GET', path())));
      const answered = replies.filter(({ status }) => status === 200);
      assert.ok(answered.length > 0);
      for (const { body } of answered) check(body);
      for (const { status } of replies) assert.ok(status === 200 || status === 429, String(status));
    });
  });
}
