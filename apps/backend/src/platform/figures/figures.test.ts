import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Runtime } from '@troupe/db';
import { createMetrics } from '@troupe/kernel';
import { testRuntime } from '@troupe/testing/database/runtime';
import { testUser } from '@troupe/testing/database/server';
import { sql } from 'kysely';
import { createFigures } from './service.ts';

/** Without a backend around it, whose scheduler would take up what is counted here. */
let runtime: Runtime;
const metrics = createMetrics();
before(async () => {
  runtime = await testRuntime();
  await runtime.jobs.start();
  createFigures(runtime).tellBy(metrics);
  await testUser(runtime.db, 'ann');
  await runtime.db.system.insertInto('agents').values({ id: 'a', user_id: 'ann', name: 'A' }).execute();
});
after(async () => {
  metrics.close();
  await runtime.close();
});

async function figures(): Promise<Record<string, number>> {
  const lines = (await metrics.text()).matchAll(/^([a-z_]+) ([\d.e+-]+)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, Number(value)]));
}

const HOUR_AGO = new Date(Date.now() - 3_600_000);
const task = (id: string, enabled: boolean) => ({
  id,
  user_id: 'ann',
  agent_id: 'a',
  name: id,
  prompt: 'hello',
  cron_schedule: '0 0 1 1 *',
  enabled,
  next_run: HOUR_AGO,
  created_at: HOUR_AGO,
  updated_at: HOUR_AGO,
});

test('count what is to be done, and tell how late it is', async () => {
  const quiet = await figures();
  const names = ['tasks_due', 'task_lag_seconds', 'task_runs_under_way', 'runs_open', 'webhook_deliveries_pending'];
  for (const name of [...names, 'leases_held', 'followers', 'jobs_waiting', 'jobs_dead'])
    assert.equal(quiet[name], 0, name);
  const { system } = runtime.db;
  await system
    .insertInto('scheduled_tasks')
    .values([task('on', true), task('off', false)])
    .execute();
  const run = { task_id: 'off', user_id: 'ann', due_at: HOUR_AGO, started_at: HOUR_AGO };
  await system
    .insertInto('task_runs')
    .values([
      { ...run, id: 'r1', status: 'running' },
      { ...run, id: 'r2', status: 'failed', due_at: new Date() },
    ])
    .execute();
  const busy = await figures();
  assert.equal(busy['tasks_due'], 1, 'one that is switched off is not due');
  assert.ok(busy['task_lag_seconds']! >= 3600 && busy['task_lag_seconds']! < 7200, String(busy['task_lag_seconds']));
  assert.equal(busy['task_runs_under_way'], 1, 'one that has ended is not under way');
});

test('count who holds and who follows conversations, and what files take', async () => {
  const { system } = runtime.db;
  const { blob_bytes: before = Infinity } = await figures();
  const soon = new Date(Date.now() + 60_000);
  const session = { agent_id: 'a', user_id: 'ann', channel: 'api', status: 'open' as const };
  await system
    .insertInto('agent_sessions')
    .values([
      { ...session, id: 'held', key: 'held', lease_owner: 'somebody', lease_until: soon },
      { ...session, id: 'left', key: 'left', lease_owner: 'somebody', lease_until: HOUR_AGO },
    ])
    .execute();
  await system
    .insertInto('agent_followers')
    .values([
      { session_id: 'held', follower: 'here', user_id: 'ann', until: soon },
      { session_id: 'held', follower: 'gone', user_id: 'ann', until: HOUR_AGO },
    ])
    .execute();
  await sql`insert into blob_chunks (user_id, hash, size, bytes, packed)
    select 'ann', sha256(n::text::bytea), 8000, decode(repeat('ab', 8000), 'hex'), false
    from generate_series(1, 20) n`.execute(system);
  const { runs_open, leases_held, followers, blob_bytes } = await figures();
  assert.deepEqual([runs_open, leases_held, followers], [2, 1, 1]);
  assert.ok(blob_bytes! >= before + 160_000, `${before} became ${blob_bytes}`);
});
