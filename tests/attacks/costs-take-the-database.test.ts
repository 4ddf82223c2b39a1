import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * What things cost, what bounds it and what agents do at the moment were read as often as somebody asked, three questions
 * to the database at once for each, and a year of a thousand names made each of them long. Two hundred caps that no call had
 * counted in yet read that year two hundred times.
 */
let scene: Scene;
before(async () => {
  scene = await startScene();
  const { attacker, database } = scene;
  await sql`insert into usage_daily (user_id, day, agent_id, model, provider, calls, failures, input_tokens, output_tokens,
      cost_micros, latency_ms)
    select ${attacker.id}, current_date - d, 'made-up-' || n, 'm', 'p', 1, 0, 1, 1, 1, 1
    from generate_series(0, 365) d, generate_series(1, 500) n`.execute(database.db.system);
  await sql`insert into spend_caps (user_id, scope, scope_id, period, limit_micros, updated_at)
    select ${attacker.id}, 'agent', 'made-up-' || n, 'total', 1000000, now() from generate_series(1, 199) n`.execute(
    database.db.system,
  );
  await sql`insert into spend_caps (user_id, scope, scope_id, period, limit_micros, updated_at)
    values (${attacker.id}, 'user', '', 'month', 1000000, now())`.execute(database.db.system);
  await sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, created_at, updated_at, enabled)
    select 'task-' || n, ${attacker.id}, ${attacker.agentId}, 'Task ' || n, '0 8 * * *', repeat('p', 9000), now(), now(), false
    from generate_series(1, 900) n`.execute(database.db.system);
  await sql`analyze usage_daily`.execute(database.db.system);
});
after(() => scene.stop());

const days = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** Ten connections, each of which asks again when it was answered. */
async function again(path: string, seconds: number): Promise<number[]> {
  const end = Date.now() + seconds * 1000;
  const statuses: number[] = [];
  const one = async (): Promise<void> => {
    while (Date.now() < end) statuses.push((await scene.attacker.ask('GET', path)).status);
  };
  await Promise.all(Array.from({ length: 10 }, one));
  return statuses;
}

for (const path of [
  `/api/costs?by=task&from=${days(365)}&to=${days(0)}`,
  `/api/costs?by=agent&from=${days(365)}&to=${days(0)}`,
  '/api/usage/caps',
  '/api/budgets',
  '/api/stage',
  '/api/usage/summary?days=365',
  '/api/scheduled-tasks?limit=1000',
])
  test(`GET ${path.split('?', 1)[0]}`, { timeout: 120_000 }, () =>
    scene.unharmed(async () => {
      const statuses = await again(path, 2);
      assert.deepEqual(
        [...new Set(statuses)].filter((status) => ![200, 429].includes(status)),
        [],
      );
      assert.ok(statuses.includes(200));
    }),
  );

test('what caps say is what was used, by agent, in all and since they count', async () => {
  const { caps } = (await scene.attacker.ask('GET', '/api/usage/caps')).body as {
    caps: { scope: string; agentId: string | null; usedUsd: number; reservedUsd: number }[];
  };
  assert.equal(caps.length, 200);
  const one = caps.find(({ agentId }) => agentId === 'made-up-7');
  assert.deepEqual([one?.usedUsd, one?.reservedUsd], [366 / 1e6, 0]);
  const all = caps.find(({ scope }) => scope === 'user');
  assert.equal(all?.usedUsd, (new Date().getUTCDate() * 500) / 1e6);
  // Set anew it counts what was counted before, once for all names.
  const set = { scope: 'agent', period: 'total', limitUsd: 5 };
  const began = performance.now();
  assert.equal((await scene.attacker.ask('PUT', '/api/usage/caps', { ...set, agentId: 'made-up-9' })).status, 200);
  assert.ok(performance.now() - began < 5000);
});
