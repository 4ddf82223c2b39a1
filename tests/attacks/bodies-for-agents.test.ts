import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * An owner held back the last byte of a hundred bodies for an agent's own gateway, where they were read as they came, and
 * then sent these together: everybody waited until the last of them was read.
 */

let scene: Scene;
before(async () => {
  scene = await startScene({ TRUST_PROXY: '1' });
});
after(() => scene.stop());

const BODIES = 100;
const fields = Array.from({ length: 16_000 }, (_, n) => `{"role":"user","id":"${n}","content":""}`).join();
const AG_UI = `{"threadId":"t","runId":"r","messages":[${fields}]}`;
const A2A = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"parts":[${'{"a":1},'.repeat(24_000)}1]}}}`;

for (const [path, body, address] of [
  ['ag-ui', AG_UI, '203.0.113.7'],
  ['a2a', A2A, '203.0.113.8'],
] as const)
  test(`${BODIES} bodies for /${path} that arrive together`, async () => {
    let statuses: number[] = [];
    await scene.unharmed(async () => {
      const workerData = {
        url: scene.backend,
        path: `/api/runtime/proxy/${scene.attacker.agentId}/${path}`,
        address,
        authorization: `Bearer ${scene.attacker.key}`,
        body,
        times: BODIES,
      };
      const worker = new Worker(new URL('bodies-of-strangers.inside.ts', import.meta.url), { workerData });
      [statuses] = (await once(worker, 'message')) as [number[]];
      await worker.terminate();
    });
    assert.ok(statuses.filter((status) => status !== 0).length > BODIES / 2, JSON.stringify(statuses));
  });
