import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { elsewhere } from '@troupe/testing/services/people';
import { TEST_SECRETS } from '@troupe/testing/http/server';

/**
 * Whoever names another agent with each call of a model makes a row of each, and all of them came in one answer: eight
 * requests took ten seconds of another's chat and 800 MB. A hundred that counted 400,000 steps took four, and 200 readers of
 * one long conversation that is shown to anybody took thirteen.
 */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const times = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));

test('what somebody used, of agents that were made up', { timeout: 300_000 }, async () => {
  const { attacker, database } = scene;
  await sql`insert into usage_daily (user_id, day, agent_id, model, provider, calls, failures, input_tokens, output_tokens,
      cost_micros, latency_ms)
    select ${attacker.id}, current_date, 'made-up-' || n, 'm', 'p', 1, 0, 1, 1, 1, 1 from generate_series(1, 200000) n`.execute(
    database.db.system,
  );
  await scene.unharmed(async () => {
    const summaries = await times(8, () => attacker.ask('GET', '/api/usage/summary?days=30'));
    for (const { status, body } of summaries) assert.deepEqual([status, body.count], [200, 10_000]);
    const costs = await times(4, () => attacker.ask('GET', '/api/dashboard/cost?period=30d'));
    for (const { status, body } of costs)
      assert.deepEqual([status, body.agents.length, body.summary.totalCalls], [200, 1001, 200_000]);
  });
});

test('all that somebody has, counted', { timeout: 300_000 }, async () => {
  const { attacker, database } = scene;
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, last_seq)
    values ('big', ${attacker.agentId}, ${attacker.id}, 'api', 'big', 300000)`.execute(database.db.system);
  await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
    select 'big', n, ${attacker.agentId}, ${attacker.id}, '{"type":"user","content":"hi there"}'::jsonb
    from generate_series(1, 300000) n`.execute(database.db.system);
  await scene.unharmed(async () => {
    const asked = await times(100, () => attacker.ask('GET', '/api/metrics'));
    for (const { status } of asked) assert.ok(status === 200 || status === 429, String(status));
    assert.ok(asked.some(({ status }) => status === 200));
  });
});

test('a long conversation that is shown to anybody', { timeout: 300_000 }, async () => {
  const { attacker, database } = scene;
  await sql`insert into agent_sessions (id, agent_id, user_id, channel, key, last_seq)
    values ('long', ${attacker.agentId}, ${attacker.id}, 'api', 'long', 25000)`.execute(database.db.system);
  await sql`insert into agent_events (session_id, seq, agent_id, user_id, data)
    select 'long', n, ${attacker.agentId}, ${attacker.id}, '{"type":"user","content":"abcd"}'::jsonb
    from generate_series(1, 25000) n`.execute(database.db.system);
  const shared = await attacker.ask('POST', `/api/agents/${attacker.agentId}/sessions/long/share`, {});
  assert.equal(shared.status, 201, JSON.stringify(shared.body));
  const token = String(shared.body.url).split('/').at(-1);
  const read = async () => {
    const headers = { authorization: `Bearer ${TEST_SECRETS.internalKey}`, 'x-client-ip': elsewhere() };
    const response = await fetch(`${scene.web}/api/shared/${token}`, { headers });
    return { status: response.status, text: await response.text() };
  };
  assert.equal((JSON.parse((await read()).text) as { messages: unknown[] }).messages.length, 25_000);
  await scene.unharmed(async () => {
    for (const { status } of await times(100, read)) assert.equal(status, 200);
  });
});
