import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { newId } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** Links that show a conversation were counted, and then made: as many as were asked for at once passed the bound. */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

test('links made at once end at the bound as those made one by one do', async () => {
  const { attacker, database } = scene;
  assert.equal((await attacker.chat({ say: 'hello' })).status, 200);
  const of = `/api/agents/${attacker.agentId}`;
  const [session] = (await attacker.ask('GET', `${of}/sessions`)).body.sessions;
  await sql`insert into conversation_shares (id, user_id, agent_id, session_id, token_hash, title, agent_name, messages, created_at)
    select ${newId()} || n, ${attacker.id}, ${attacker.agentId}, ${session.id}, ${newId()} || n, '', 'Ada', '[]', now()
    from generate_series(1, 95) n`.execute(database.db.system);
  const count = async (): Promise<number> =>
    (await sql`select from conversation_shares where user_id = ${attacker.id}`.execute(database.db.system)).rows.length;
  await scene.unharmed(async () => {
    // All of them have counted before one of them writes.
    const write = Promise.withResolvers<void>();
    const held = database.db.asSystem(async (tx) => {
      await sql`lock table conversation_shares in share mode`.execute(tx);
      await write.promise;
    });
    const asked = Array.from({ length: 8 }, () => attacker.ask('POST', `${of}/sessions/${session.id}/share`));
    await delay(1500);
    write.resolve();
    await held;
    const made = await Promise.all(asked);
    assert.deepEqual(
      made.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 201, 201, 201, 201, 409, 409, 409],
    );
  });
  assert.equal(await count(), 100);
});
