import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import { testUser } from '@troupe/testing/database/server';
import { systemClock } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { createRoster } from '@troupe/roster';
import { sql } from 'kysely';
import { testBackend, type TestBackend } from '../testing.ts';
import { createWake } from './runtime/wake.ts';
import { createScheduler, type Scheduler } from './scheduler/service.ts';

/** A day of heartbeats and tasks on a clock that a test moves: the model is asked where there is something to do, and nowhere else. */

const BEGIN = new Date('2026-03-01T00:00:00Z');
const MINUTE = 60_000;
let now = BEGIN;
let provider: StandIn;
let backend: TestBackend;
let scheduler: Scheduler;
let base: string;

before(async () => {
  provider = await createStandIn();
  // The backend's own scheduler keeps the real time and finds nothing due: everything here lies in its future.
  backend = await testBackend({
    env: { OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: provider.url },
    clock: () => new Date(BEGIN.getTime() - 86_400_000),
  });
  base = await backend.server.listen(0, 'BACKEND_PORT');
  const { db, secrets, log } = backend.deps;
  const clock = () => now;
  const roster = createRoster({ db, clock, sealKey: secrets.walletKey });
  // Signatures of calls are checked by the real time.
  const wake = createWake({ roster, baseUrl: () => base, sessionSecret: secrets.sessionSecret, clock: systemClock });
  scheduler = createScheduler({ db, log, clock, wake });
  await testUser(db, 'ann', { plan: 'network' });
});
after(async () => {
  await backend.stop();
  await provider.close();
});

async function deploy(agentId: string): Promise<void> {
  const response = await fetch(`${base}/api/deployments`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TEST_SECRETS.internalKey}`,
      'content-type': 'application/json',
      'x-user-id': 'ann',
      'x-user-plan': 'network',
      'x-client-ip': agentId,
    },
    body: JSON.stringify({ agentId, config: { name: agentId, plan: 'network' } }),
  });
  assert.equal(response.status, 201, await response.text());
  await sql`insert into heartbeats (agent_id, user_id, frequency, seconds, enabled, next_heartbeat)
    values (${agentId}, 'ann', '30m', 1800, true, ${BEGIN})`.execute(backend.deps.db.system);
}

async function passHours(hours: number): Promise<void> {
  for (let minutes = 0; minutes < hours * 60; minutes += 5) {
    now = new Date(now.getTime() + 5 * MINUTE);
    while ((await scheduler.cycle()) > 0);
  }
}

const asked = (): string[] =>
  provider.requests.flatMap(({ path, body }) =>
    path.endsWith('/chat/completions') ? [String((body['messages'] as { content: unknown }[]).at(-1)?.content)] : [],
  );

const beats = async (agentId: string): Promise<number> => {
  const { rows } = await sql<{ message: string }>`select message from agent_logs
    where agent_id = ${agentId} and source = 'heartbeat'`.execute(backend.deps.db.system);
  return rows.length;
};

test('24 hours: every beat and task comes, and the model hears only of work', { timeout: 120_000 }, async () => {
  const { db } = backend.deps;
  for (const agentId of ['idle', 'tasked', 'busy']) await deploy(agentId);
  await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
    values ('t', 'ann', 'tasked', 'T', '0 */6 * * *', 'six hours have passed', true, ${new Date('2026-03-01T06:00:00Z')}, now(), now())`.execute(
    db.system,
  );

  await passHours(12);
  assert.deepEqual(asked(), ['six hours have passed', 'six hours have passed']);

  // Something to do appears: the next beat hands it over, and once it is done the model is left alone again.
  await sql`insert into agent_todos (user_id, agent_id, scope, number, description)
    values ('ann', 'busy', 'agent:busy', 1, 'water the plants')`.execute(db.system);
  provider.answer((request, response) => {
    const last = (request.body['messages'] as { role: string; content: unknown }[]).at(-1);
    const isWork = last?.role === 'user' && String(last.content).includes('water the plants');
    const done = { id: 'c', name: 'update_todo', arguments: '{"id":"1","status":"completed"}' };
    replyChat(request, response, isWork ? { content: null, toolCalls: [done] } : { content: 'done' });
  });
  provider.requests.length = 0;
  await passHours(12);
  const words = asked();
  assert.equal(words.filter((text) => text === 'six hours have passed').length, 2);
  assert.equal(words.filter((text) => text.startsWith('This is a heartbeat')).length, 1);
  // One more call: the model was told the result of its tool.
  assert.equal(words.length, 4);

  for (const agentId of ['idle', 'tasked', 'busy']) assert.equal(await beats(agentId), 48, agentId);
  const { rows } = await sql<{ status: string }>`select status from task_runs`.execute(db.system);
  assert.deepEqual(
    rows.map(({ status }) => status),
    Array.from({ length: 4 }, () => 'succeeded'),
  );
});
