import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * A mail server that was asked to say when there is something new said lines that mean nothing, for as long as anybody
 * listened: each piece that came was read to its end before anybody else had a turn, and ten agents with such a mailbox took
 * the whole of the loop.
 */

const AGENTS = 10;
const LASTS_MS = 6000;

let scene: Scene;
let worker: Worker;
let port: number;
before(async () => {
  worker = new Worker(new URL('mail-server-without-end.inside.ts', import.meta.url));
  [port] = (await once(worker, 'message')) as [number];
  scene = await startScene({ AGENT_PRIVATE_HOSTS: `127.0.0.1:${port}` });
});
after(async () => {
  await scene.stop();
  await worker.terminate();
});

test('lines without end while nobody asks for anything', { timeout: 180_000 }, async () => {
  const { attacker } = scene;
  const settings = {
    address: 'ada@test.example',
    password: 'secret',
    imapHost: '127.0.0.1',
    imapPort: String(port),
    imapSecurity: 'none',
    smtpHost: '127.0.0.1',
    smtpPort: String(port),
    smtpSecurity: 'none',
  };
  const agents: string[] = [];
  for (let n = 0; n < AGENTS; n += 1) {
    const made = await attacker.ask('POST', '/api/agents/provision', { name: `Mail ${n}` });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    agents.push(made.body.agent.id as string);
  }
  await scene.unharmed(async () => {
    for (const id of agents) {
      const set = await attacker.ask('PUT', `/api/agents/${id}/channels/email`, { settings, allowed: ['a@b.example'] });
      assert.equal(set.status, 200, JSON.stringify(set.body));
    }
    await delay(LASTS_MS);
  });
  for (const id of agents) await attacker.ask('DELETE', `/api/agents/${id}/channels/email`);
});
