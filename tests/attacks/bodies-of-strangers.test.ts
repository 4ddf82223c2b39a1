import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { sendRaw } from '@troupe/testing/http/raw';

/**
 * Somebody without an account sent 240 bodies of 1 MB, each a list of empty lists, all but the last byte, and then those
 * together: web was silent for two minutes, and took 4 GB.
 */

let scene: Scene;
before(async () => {
  scene = await startScene({ TRUST_PROXY: '1' });
});
after(() => scene.stop());

const STRANGER = '203.0.113.77';
const PATH = '/api/keys/validate';
const BODIES = 60;

async function fired(body: string): Promise<number[]> {
  const workerData = { url: scene.web, path: PATH, address: STRANGER, body, times: BODIES };
  const worker = new Worker(new URL('bodies-of-strangers.inside.ts', import.meta.url), { workerData });
  const [statuses] = (await once(worker, 'message')) as [number[]];
  await worker.terminate();
  return statuses;
}

const LISTS = `{"key":[${'[],'.repeat(340_000)}1]}`;
const FIELDS = `{"key":{${Array.from({ length: 100_000 }, (_, n) => `"${n.toString(36)}":0`).join()}}}`;

test('a body of very many lists, objects or fields is refused unread', async () => {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': STRANGER };
  for (const body of [LISTS, LISTS.replaceAll('[]', '{}'), FIELDS]) {
    const { status, text } = await sendRaw(scene.web, { method: 'POST', path: PATH, headers, body });
    assert.equal(status, 400);
    assert.match(text, /more than 50000 lists, objects and fields/);
  }
});

for (const [name, body] of [
  ['lists', LISTS],
  ['fields', FIELDS],
  ['few fields', FIELDS.slice(0, FIELDS.indexOf('"yyy":')) + '"":0}}'],
] as const)
  test(`bodies of ${name} that arrive together are read in turns, and few of them are kept`, async () => {
    const before = scene.memory();
    let statuses: number[] = [];
    await scene.unharmed(async () => {
      statuses = await fired(body);
    });
    const told = Object.fromEntries(
      Object.entries(Object.groupBy(statuses, String)).map(([at, all]) => [at, all?.length]),
    );
    // Whoever is refused at the head of a body that goes on may see the connection end before the words.
    assert.deepEqual(
      Object.keys(told).filter((status) => !/^(0|400|429)$/.test(status)),
      [],
    );
    const grown = scene.memory() - before;
    assert.ok(grown < 300, `the process grew by ${Math.round(grown)} MB`);
  });
