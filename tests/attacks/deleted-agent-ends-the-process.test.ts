import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** A channel that failed wrote into the log of an agent that was just deleted; nobody awaited that, and the process ended. */

/**
 * Two thirds of a channel's lease: whatever listens has noticed by then that its row is gone. That it did leaves no trace,
 * since its agent is gone: here the time itself is waited for.
 */
const NOTICED_MS = 14_000;

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

test('deleting an agent whose channels fail harms nobody', { timeout: 90_000 }, async () => {
  const { attacker, database, program } = scene;
  await scene.unharmed(async () => {
    const made = await attacker.ask('POST', '/api/provision', { channelTokenA: '123:abc', channelTokenC: 'abc' });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const agentId = String(made.body.agentId);
    const started = sql<{ n: number }>`select count(*)::integer as n from agent_logs
      where agent_id = ${agentId} and message = 'Channel started.'`;
    while ((await started.execute(database.db.system)).rows[0]?.n !== 2) await delay(200);
    const gone = await attacker.ask('DELETE', `/api/agents/${agentId}`);
    assert.ok(gone.status < 300, JSON.stringify(gone.body));
    await delay(NOTICED_MS);
  });
  assert.doesNotMatch(program.output(), /foreign key/, 'nothing was written for the agent after its end');
});
