import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import type { Reply } from '@troupe/testing/services/people';

/** Whoever made more agents than a minute allows was refused, and left a dead agent behind each time. */

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

async function agentsOf(userId: string): Promise<Record<string, number>> {
  const { rows } = await sql<{ status: string; n: number }>`select status, count(*)::integer as n from agents
    where user_id = ${userId} group by status`.execute(scene.database.db.system);
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

test('what the backend refuses is not there afterwards', { timeout: 60_000 }, async () => {
  const { attacker } = scene;
  const one = { 'x-client-ip': '192.0.2.77' };
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, n) => attacker.ask('POST', '/api/agents/provision', { name: `A${n}` }, one)),
  );
  const created = made.filter(({ status }) => status === 201).length;
  assert.equal(made.filter(({ status }) => status === 429).length, 20 - created);
  assert.ok(created <= 5);
  assert.deepEqual(await agentsOf(attacker.id), { running: created + 1 });
});

test('twenty at once make no more than the plan has', { timeout: 60_000 }, async () => {
  const person = await scene.person({ plan: 'collective' });
  const before = (await agentsOf(person.id))['running'] ?? 0;
  let made: Reply[] = [];
  await scene.unharmed(async () => {
    made = await Promise.all(
      Array.from({ length: 20 }, (_, n) => person.ask('POST', '/api/agents/provision', { name: `B${n}` })),
    );
  });
  const created = made.filter(({ status }) => status === 201).length;
  assert.ok(created < 20);
  const { limit } = made.find(({ status }) => status === 429)!.body as { limit: number };
  assert.deepEqual(await agentsOf(person.id), { running: before + created });
  assert.equal(before + created, limit);

  // Those that failed do not count; started again together they do.
  await sql`update agents set status = 'error' where user_id = ${person.id}`.execute(scene.database.db.system);
  const more = await Promise.all(
    Array.from({ length: limit }, (_, n) => person.ask('POST', '/api/agents/provision', { name: `C${n}` })),
  );
  assert.ok(more.every(({ status }) => status === 201));
  const { rows } = await sql<{ id: string }>`select id from agents where user_id = ${person.id}
    and status = 'error'`.execute(scene.database.db.system);
  await sql`update agents set status = 'error' where user_id = ${person.id}`.execute(scene.database.db.system);
  const { rows: all } = await sql<{ id: string }>`select id from agents where user_id = ${person.id}`.execute(
    scene.database.db.system,
  );
  assert.equal(all.length, rows.length + limit);
  const started = await Promise.all(
    all.map(({ id }) => person.askBackend('POST', '/api/deployments', { agentId: id, config: {} })),
  );
  assert.equal(
    started.filter(({ status }) => status < 300).length,
    limit,
    JSON.stringify(started.map((s) => s.status)),
  );
  assert.equal((await agentsOf(person.id))['running'], limit);
});
