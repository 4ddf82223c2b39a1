import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

let scene: Scene;
before(async () => (scene = await startScene()));
after(() => scene.stop());

test('an attack that does nothing harms nobody', async () => {
  await scene.unharmed(() => delay(1000));
});

test('a process that stands still is noticed', async () => {
  await assert.rejects(
    scene.unharmed(async () => {
      await delay(100);
      scene.program.kill('SIGSTOP');
      await delay(1200);
      scene.program.kill('SIGCONT');
    }),
    /took \d+ ms during the attack/,
  );
});

test('a request that is refused meanwhile is noticed', async () => {
  const { status } = await scene.bystander.ask('DELETE', `/api/agents/${scene.bystander.agentId}`);
  assert.ok(status < 300);
  await assert.rejects(
    scene.unharmed(() => delay(300)),
    /chat during the attack: 404/,
  );
});
