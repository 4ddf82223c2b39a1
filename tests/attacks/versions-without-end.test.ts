import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** Each change of an agent's configuration was kept for ever, up to its bound in size each time. */
let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

test('an agent whose configuration is changed again and again keeps fifty of them', async () => {
  const { attacker, database } = scene;
  const path = `/api/agents/${attacker.agentId}/config`;
  await scene.unharmed(async () => {
    for (let n = 1; n <= 60; n += 1) {
      const { status, body } = await attacker.ask('PUT', path, { systemPrompt: `Version ${n}` });
      assert.equal(status, 200, JSON.stringify(body));
    }
  });
  const { count, newest } = await database.db.system
    .selectFrom('agent_definitions')
    .select((eb) => [eb.fn.countAll<bigint>().as('count'), eb.fn.max('version').as('newest')])
    .where('agent_id', '=', attacker.agentId)
    .executeTakeFirstOrThrow();
  assert.ok(newest > 60);
  assert.equal(Number(count), 50);
  const { body } = await attacker.ask('GET', path);
  assert.match(JSON.stringify(body), /Version 60/);
  assert.equal((await attacker.chat({ say: 'still here' })).status, 200);
});
