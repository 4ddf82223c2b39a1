import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

// A team's document froze web: the YAML library compares each key with each, and is as slow with other texts.
let scene: Scene;
before(async () => {
  scene = await startScene();
  // The thread is there, and what it loads.
  assert.equal((await provision('agents: [')).status, 400);
});
after(() => scene.stop());

const provision = (yaml: string) =>
  scene.attacker.ask('POST', '/api/provision/team', { plan: 'network', yaml_config: yaml });

const keys = Array.from({ length: 17_000 }, (_, index) => `k${index}: 1`).join('\n');
const TEXTS: Record<string, string> = {
  'many keys': keys,
  'many commas': `[${','.repeat(60_000)}]`,
  'many brackets': '['.repeat(100_000),
};

for (const [what, text] of Object.entries(TEXTS))
  test(what, async () => {
    await scene.unharmed(async () => {
      const { status, body } = await provision(text);
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(body.error, /^(Not valid YAML|Invalid team)/);
    });
  });

test('a bomb of aliases', async () => {
  const levels = 'bcdefghij'
    .split('')
    .map((name, index) => `${name}: &${name} [${`*${'abcdefghij'[index]},`.repeat(9)}]`);
  await scene.unharmed(async () => {
    const { status, body } = await provision(`a: &a [x]\n${levels.join('\n')}\nagents: *j`);
    assert.deepEqual([status, /alias/i.test(body.error)], [400, true], body.error);
  });
});
