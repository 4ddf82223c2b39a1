import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps, type Step } from '@troupe/testing/services/director';

/**
 * MCP services sent 2 MB of lines that mean nothing, and the library made an error for each: ten of them froze everything
 * for 18 s. Others answered a call with two million characters of brackets or with 75,000 parts, each of which was checked.
 */

const SERVERS = 10;
const LASTS_MS = 4000;

let scene: Scene;
let worker: Worker;
let base: string;
before(async () => {
  worker = new Worker(new URL('hostile-mcp-services.inside.ts', import.meta.url));
  const [port] = (await once(worker, 'message')) as [number];
  base = `http://127.0.0.1:${port}`;
  scene = await startScene({ AGENT_PRIVATE_HOSTS: `127.0.0.1:${port}` });
  // The library is loaded with the first server.
  await chat(await agentWith('well'), { say: 'loaded' });
});
after(async () => {
  await scene.stop();
  await worker.terminate();
});

async function agentWith(kind: string, count = 1): Promise<string> {
  const toolsets = Array.from({ length: count }, (_, n) => ({
    type: 'mcp',
    name: `evil${n}`,
    remote: { url: `${base}/${kind}/${n}` },
  }));
  const yaml_config = JSON.stringify({ agents: { root: { instruction: 'Help.', toolsets } } });
  const made = await scene.attacker.ask('POST', '/api/provision/team', { plan: 'network', yaml_config });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.agents[0].agentId as string;
}
const chat = (agentId: string, ...script: Step[]) =>
  scene.attacker.ask('POST', '/api/chat', { agentId, message: steps(...script) });

test('lines that mean nothing, with ends of two kinds', async () => {
  const agentId = await agentWith('lines', SERVERS);
  await scene.unharmed(async () => {
    const asked = chat(agentId, { say: 'hi' }).catch(() => undefined);
    await Promise.race([asked, delay(LASTS_MS)]);
  });
});

for (const kind of ['brackets', 'stream', 'parts'])
  test(`an answer of ${kind}`, async () => {
    const agentId = await agentWith(kind, 4);
    await scene.unharmed(async () => {
      const calls = Array.from({ length: 4 }, (_, n) => chat(agentId, { tool: `evil${n}_go`, args: {} }));
      for (const { status, body } of await Promise.all(calls)) assert.equal(status, 200, JSON.stringify(body));
    });
  });
