import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/**
 * A model server answered without end, and the platform kept all of it; it sent one line byte by byte, and the whole line
 * was looked through with each; and it called a million tools, which took seconds to read. Where the owner had two hundred
 * patterns for commands, 64 calls of 2,000 semicolons each were compared with them for a minute, and again after a restart.
 */

const AT_ONCE = 4;
const LASTS_MS = 4000;

let scene: Scene;
let worker: Worker;
before(async () => {
  worker = new Worker(new URL('hostile-model-servers.inside.ts', import.meta.url));
  const [port] = (await once(worker, 'message')) as [number];
  scene = await startScene({ GROQ_API_KEY: 'operator', GROQ_BASE_URL: `http://127.0.0.1:${port}` });
});
after(async () => {
  await scene.stop();
  await worker.terminate();
});

/** The agent thinks on a key of its owner's, which says how the server is to answer. */
async function thinkWith(apiKey: string, agentId = scene.attacker.agentId): Promise<void> {
  const { attacker } = scene;
  const body = { provider: 'groq', apiKey, agentIds: [agentId] };
  assert.equal((await attacker.ask('PUT', '/api/model-keys', body)).status, 200);
}

async function ask(accept: string): Promise<number> {
  const { attacker, web } = scene;
  const signal = AbortSignal.timeout(LASTS_MS);
  const headers = { cookie: attacker.cookie, origin: web, 'content-type': 'application/json', accept };
  const body = JSON.stringify({ agentId: attacker.agentId, message: 'go on', conversation: crypto.randomUUID() });
  let bytes = 0;
  try {
    const answer = await fetch(`${web}/api/chat`, { method: 'POST', headers, body, signal });
    for await (const piece of answer.body!) bytes += piece.length;
  } catch {
    // The time is over, or the platform has broken it off.
  }
  return bytes;
}

for (const [kind, accept] of [
  ['endless', 'text/event-stream'],
  ['byte-by-byte', 'text/event-stream'],
  ['calls', 'text/event-stream'],
  ['whole', 'application/json'],
] as const)
  test(`a model server whose answer is ${kind}`, async () => {
    await thinkWith(kind);
    const before = scene.memory();
    let grown = 0;
    await scene.unharmed(async () => {
      const asked = Array.from({ length: AT_ONCE }, () => ask(accept));
      await delay(LASTS_MS - 200);
      grown = scene.memory() - before;
      await Promise.all(asked);
    });
    assert.ok(grown < 300, `the process grew by ${Math.round(grown)} MB`);
  });

test('calls of commands that are compared with every pattern of the owner', async () => {
  const patterns = Array.from({ length: 100 }, (_, n) => `shell:cmd=*x${n}*y?z*`);
  const yaml_config = JSON.stringify({
    permissions: { deny: patterns, ask: patterns },
    agents: { root: { instruction: 'Help.', tools: ['shell'] } },
  });
  const made = await scene.attacker.ask('POST', '/api/provision/team', { plan: 'network', yaml_config });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const agentId = made.body.agents[0].agentId as string;
  await thinkWith('commands', agentId);
  await scene.unharmed(async () => {
    const asked = scene.attacker.ask('POST', '/api/chat', { agentId, message: 'go on' });
    await Promise.race([asked, delay(LASTS_MS)]);
    const { rows } = await sql<{ n: number }>`select count(*)::integer as n from agent_events
      where agent_id = ${agentId} and type = 'approval_requested'`.execute(scene.database.db.system);
    assert.equal(rows[0]!.n, 64, 'its owner is asked about each');
  });
});
