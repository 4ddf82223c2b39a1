import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * A stranger with one connection sent requests for nothing one after the other, without waiting for answers: two thousand
 * are in one piece of the network, and all were begun at once. Web was silent for 9 s; with twenty the backend
 * was silent for 40.
 */

let scene: Scene;
// The stranger comes from an address of its own.
before(async () => (scene = await startScene({ TRUST_PROXY: '1' })));
after(() => scene.stop());

const LASTS_MS = 4000;

for (const [service, path, connections] of [
  ['web', '/nothing', 1],
  ['web', '/api/health', 10],
  ['backend', '/api/runtime/proxy/nobody/x', 10],
  ['summarizer', '/nothing', 10],
] as const)
  test(`${connections} connections that do not wait for answers, at ${path} of ${service}`, async () => {
    const workerData = { port: Number(new URL(scene[service]).port), path, connections };
    await scene.unharmed(async () => {
      const worker = new Worker(new URL('requests-without-waiting.inside.ts', import.meta.url), { workerData });
      await delay(LASTS_MS);
      await worker.terminate();
    });
  });
