import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps } from '@troupe/testing/services/director';

/**
 * 300 tasks of one user whose agent hangs kept another's task waiting for minutes; and after hours of downtime the tasks
 * of every second froze the start.
 */
let scene: Scene;
before(async () => {
  scene = await startScene();
});
after(() => scene.stop());

const addTasks = (user: string, agent: string, prompt: string, cron: string, count: number, since: string) =>
  sql`insert into scheduled_tasks (id, user_id, agent_id, name, cron_schedule, prompt, enabled, next_run, created_at, updated_at)
    select ${agent} || ':' || ${since} || n, ${user}, ${agent}, 'T', ${cron}, ${prompt}, true, now() - ${since}::interval, now(), now()
    from generate_series(1, ${count}::int) n`.execute(scene.database.db.system);

async function runsOf(user: string): Promise<number> {
  const { db } = scene.database;
  return (await db.system.selectFrom('task_runs').select('id').where('user_id', '=', user).execute()).length;
}

test('another’s task runs at the next look, however many hang or were missed', async () => {
  const { attacker, bystander } = scene;
  const hang = steps({ wait: 'never' });
  await addTasks(attacker.id, attacker.agentId, hang, '* * * * * *', 300, '6 hours');
  await addTasks(bystander.id, bystander.agentId, steps({ say: 'done' }), '0 0 1 1 *', 1, '1 second');
  await scene.unharmed(async () => {
    const end = Date.now() + 45_000;
    while ((await runsOf(bystander.id)) === 0) {
      assert.ok(Date.now() < end, 'another’s task is still waiting');
      await delay(200);
    }
  });
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from task_runs
    where user_id = ${attacker.id} and status = 'running'`.execute(scene.database.db.system);
  assert.ok(rows[0]!.n <= 10, `${rows[0]!.n} runs of one user at once`);
});
