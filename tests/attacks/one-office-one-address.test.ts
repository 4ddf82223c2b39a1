import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { sendRaw } from '@troupe/testing/http/raw';

/** Everybody behind one address shared its limits: one of an office could keep all the others out. */
let scene: Scene;
before(async () => (scene = await startScene({ TRUST_PROXY: '1' })));
after(() => scene.stop());

const office = { 'x-forwarded-for': '10.88.0.1' };

for (const path of ['/api/agents', '/api/models'])
  test(`${path}: who asks too often is told so, and nobody else of the office notices`, async () => {
    const ask = async (headers: Record<string, string>) =>
      (await sendRaw(scene.web, { path, headers: { ...office, ...headers } })).status;
    const greedy = { cookie: scene.attacker.cookie };
    let last = 0;
    for (let asked = 0; asked < 130 && last !== 429; asked += 1) last = await ask(greedy);
    assert.equal(last, 429);
    // Nothing to show, and something that is nobody's: these are the address.
    for (let asked = 0; asked < 130; asked += 1)
      await ask(asked % 2 ? { cookie: `svc-session=${'0'.repeat(64)}` } : {});
    assert.equal(await ask({ cookie: scene.bystander.cookie }), 200);
    assert.equal(await ask(greedy), 429);
  });
