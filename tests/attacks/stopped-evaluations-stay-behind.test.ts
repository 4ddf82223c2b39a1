import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { tryCaseJob } from '@troupe/contract';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps } from '@troupe/testing/services/director';

/**
 * Starting an evaluation of two hundred cases and stopping it left two hundred jobs behind each time, which waited for
 * as long as other cases of the same owner hung: the queue had no bound.
 */
const CASES = 200;
const TIMES = 6;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

async function cases(agentId: string, count: number, input: string): Promise<void> {
  await sql`insert into evaluation_cases (id, user_id, agent_id, name, input, checks, max_seconds, created_at, updated_at)
    select ${newId()} || n, ${scene.attacker.id}, ${agentId}, 'case', ${input}, '[{"kind":"contains","text":"x"}]', 600, now(), now()
    from generate_series(1, ${count}::integer) n`.execute(scene.database.db.system);
}

async function waiting(): Promise<number> {
  const client = new pg.Client({ connectionString: scene.database.url });
  await client.connect();
  const { rows } = await client.query("select from pgboss.job where name = $1 and state < 'active'", [
    tryCaseJob.queue,
  ]);
  await client.end();
  return rows.length;
}

test('an evaluation that is stopped leaves no jobs behind', { timeout: 180_000 }, async () => {
  const { attacker } = scene;
  const made = await attacker.ask('POST', '/api/agents/provision', { name: 'Bob' });
  const other = made.body.agent.id as string;
  // Both of its places are taken by cases that hang.
  await cases(other, 2, steps({ wait: 'for ever' }));
  assert.equal((await attacker.ask('POST', `/api/agents/${other}/evaluations`, {})).status, 202);
  await scene.director.waits('for ever');
  await cases(attacker.agentId, CASES, steps({ say: 'x' }));
  const of = `/api/agents/${attacker.agentId}/evaluations`;
  await scene.unharmed(async () => {
    for (let n = 0; n < TIMES; n += 1) {
      const begun = await attacker.ask('POST', of, {});
      assert.ok(begun.status === 202 || begun.status === 429, JSON.stringify(begun.body));
      if (begun.status === 202) assert.equal((await attacker.ask('POST', `${of}/${begun.body.id}/stop`)).status, 200);
    }
  });
  const left = await waiting();
  assert.ok(left <= CASES, `${left} jobs wait`);
  const { rows } = await sql`select from evaluations where agent_id = ${attacker.agentId}`.execute(
    scene.database.db.system,
  );
  assert.ok(rows.length <= 11, `${rows.length} evaluations`);
});
