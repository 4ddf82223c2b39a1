import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere } from '@troupe/testing/services/people';

/** A conversation of large messages was read as one answer of 157 MB; thirty that nobody took cost 5 GB. */

const MB = 1024 * 1024;
const MESSAGES = 100;
const AT_ONCE = 10;
const UNREAD = 30;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

/** A conversation of 100 MB, as it could be made before messages had a bound. */
async function largeConversation(): Promise<string> {
  const { attacker, database } = scene;
  const sessionId = newId();
  const { system } = database.db;
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, status, last_seq)
    values (${sessionId}, ${attacker.agentId}, ${attacker.id}, 'api', 'large', 'idle', ${MESSAGES})`.execute(system);
  await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
    select ${sessionId}, n, ${attacker.agentId}, ${attacker.id},
      jsonb_build_object('type', 'user', 'content', repeat(md5(n::text), ${MB / 32}))
    from generate_series(1, ${MESSAGES}::integer) n`.execute(system);
  return sessionId;
}

/** Asks and takes nothing of the answer. */
function unread(path: string): http.ClientRequest {
  const { attacker, web } = scene;
  const headers = {
    cookie: attacker.cookie,
    authorization: `Bearer ${TEST_SECRETS.internalKey}`,
    'x-client-ip': elsewhere(),
  };
  const request = http.get(web + path, { headers }, (response) => response.pause());
  request.on('error', () => undefined);
  return request;
}

test('a page has a bound in bytes, for everybody who asks for it at once', { timeout: 120_000 }, async () => {
  const { attacker } = scene;
  const base = `/api/agents/${attacker.agentId}`;
  const sessionId = await largeConversation();
  const before = scene.memory();
  await scene.unharmed(async () => {
    const pages = await Promise.all(
      Array.from({ length: AT_ONCE }, () => attacker.ask('GET', `${base}/sessions/${sessionId}?limit=1000`)),
    );
    for (const { status, body } of pages) {
      assert.equal(status, 200);
      assert.ok(JSON.stringify(body).length < 4 * MB);
      assert.equal(body.hasMore, true);
    }
    const open = Array.from({ length: UNREAD }, () => unread(`${base}/sessions/${sessionId}?limit=1000`));
    await delay(3000);
    for (const request of open) request.destroy();
  });
  const grown = scene.memory() - before;
  assert.ok(grown < 400, `the process grew by ${Math.round(grown)} MB`);
});

test('what is cut off is read with the next pages', async () => {
  const { attacker, database } = scene;
  const base = `/api/agents/${attacker.agentId}`;
  const { rows } = await sql<{ id: string }>`select id from agent_sessions where key = 'large'`.execute(
    database.db.system,
  );
  // The end of it: pages of one's own follow each other slowly when they are this large.
  const begin = MESSAGES - 25;
  const seen: number[] = [];
  for (let hasMore = true; hasMore;) {
    const { body } = await attacker.ask(
      'GET',
      `${base}/sessions/${rows[0]?.id}?limit=1000&after=${seen.at(-1) ?? begin}`,
    );
    seen.push(...(body.events as { seq: number }[]).map(({ seq }) => seq));
    hasMore = body.hasMore as boolean;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: MESSAGES - begin }, (_, index) => begin + index + 1),
  );
});

test('so has every other list of an agent', async () => {
  const { attacker, database } = scene;
  const { system } = database.db;
  const base = `/api/agents/${attacker.agentId}`;
  const messages = await attacker.ask('GET', `${base}/messages?limit=100`);
  assert.ok(JSON.stringify(messages.body).length < 4 * MB);
  assert.deepEqual([messages.body.hasMore, messages.body.total >= MESSAGES], [true, true]);

  await sql`insert into agent_memory (id, user_id, agent_id, scope, key, content, created_at, updated_at, expires_at)
    select 'm' || n, ${attacker.id}, ${attacker.agentId}, ${`agent:${attacker.agentId}`}, 'k' || n, repeat('x', 100000),
      now(), now() - make_interval(secs => n), now() + interval '1 day' from generate_series(1, 500) n`.execute(system);
  const memory = await attacker.ask('GET', `/api/memory?agentId=${attacker.agentId}`);
  assert.ok(JSON.stringify(memory.body).length < 4 * MB);
  assert.equal(memory.body.hasMore, true);
  const next = await attacker.ask('GET', `/api/memory?agentId=${attacker.agentId}&offset=${memory.body.count}`);
  assert.ok(!Object.keys(next.body.memory as object).some((key) => key in memory.body.memory));
  const gone = await attacker.ask('DELETE', '/api/memory', { agentId: attacker.agentId, key: 'k499' });
  assert.equal(gone.status, 200, 'also what is in the last page is found');

  await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, timezone, prompt, enabled, created_at, updated_at)
    select 't' || n, ${attacker.id}, ${attacker.agentId}, 'n', '0 0 1 1 *', 'UTC', repeat('x', 100000), false, now(), now()
    from generate_series(1, 300) n`.execute(system);
  const tasks = await attacker.ask('GET', '/api/scheduled-tasks');
  assert.ok(JSON.stringify(tasks.body).length < 4 * MB);
  assert.equal(tasks.body.hasMore, true);
});

test('and one message', async () => {
  const { attacker } = scene;
  const path = `/api/runtime/proxy/${attacker.agentId}/v1/chat/completions`;
  const say = (content: string) => attacker.askBackend('POST', path, { messages: [{ role: 'user', content }] });
  const refused = await say('x'.repeat(300_000));
  assert.deepEqual([refused.status, refused.body.error.message], [413, 'A message may have 256 KB at most']);
});
