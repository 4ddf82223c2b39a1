import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { SystemTx } from '@troupe/db';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send, type Reply } from '@troupe/testing/services/people';

/**
 * Of many requests at once each found room below a limit, and all were let in: 60 together made 50 push notification
 * configs of a task that may have ten, and every one of them is a request to an address of the caller's choice.
 */

const AT_ONCE = 40;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

const byKey = (method: string, path: string, body?: unknown): Promise<Reply> =>
  send(scene.backend + path, method, body, { authorization: `Bearer ${scene.attacker.key}` });

async function count(table: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from ${sql.table(table)}
    where user_id = ${scene.attacker.id}`.execute(scene.database.db.system);
  return rows[0]!.n;
}

async function together(make: (n: number) => Promise<Reply>): Promise<Reply[]> {
  let all: Reply[] = [];
  await scene.unharmed(async () => {
    all = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => make(n)));
  });
  return all;
}

test('what the database bounds waits for what has not been decided yet', async () => {
  const { attacker, database } = scene;
  const add = (tx: SystemTx, n: number) =>
    sql`insert into managed_environments (id, user_id, name, metadata, created_at, updated_at)
      values (${`e${n}`}, ${attacker.id}, 'x', '{}', now(), now())`.execute(tx);
  await database.db.asSystem(async (tx) => {
    for (let n = 1; n < 100; n += 1) await add(tx, n);
  });
  const [added, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = database.db.asSystem(async (tx) => {
    await add(tx, 100);
    added.resolve();
    await decided.promise;
  });
  await added.promise;
  const second = database.db.asSystem((tx) => add(tx, 101)).catch((error: unknown) => error);
  await Promise.race([second, delay(500)]);
  decided.resolve();
  await first;
  assert.match(String(await second), /At most 100 environments/);
  assert.equal(await count('managed_environments'), 100);
  assert.equal((await byKey('POST', '/v1/environments', { name: 'one more' })).status, 429);
});

test('caps', async () => {
  const { attacker } = scene;
  await sql`insert into spend_caps (user_id, scope, scope_id, period, limit_micros, updated_at)
    select ${attacker.id}, 'agent', 'a' || n, 'month', 1000000, now() from generate_series(1, 195) n`.execute(
    scene.database.db.system,
  );
  await together((n) => attacker.ask('PUT', '/api/usage/caps', { scope: 'agent', agentId: `more${n}`, limitUsd: 1 }));
  assert.equal(await count('spend_caps'), 200);
});

test('push notification configs of a task', async () => {
  const { attacker } = scene;
  const a2a = (method: string, params: object): Promise<Reply> =>
    byKey('POST', `/api/runtime/proxy/${attacker.agentId}/a2a`, { jsonrpc: '2.0', id: 1, method, params });
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const { body } = await a2a('SendMessage', { message });
  const taskId = body.result.task.id as string;
  const all = await together((n) =>
    a2a('CreateTaskPushNotificationConfig', { taskId, id: `c${n}`, url: 'http://example.invalid/' }),
  );
  assert.equal(await count('a2a_push_configs'), 10);
  assert.equal(
    all.filter((one) => /10 push notification configs at most/.test(JSON.stringify(one.body))).length,
    AT_ONCE - 10,
  );
});
