import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { send } from '@troupe/testing/services/people';
import { steps } from '@troupe/testing/services/director';
import { longHost } from '@troupe/testing/attacks/long-host';

/**
 * To write a host in the letters that networks know takes the square of its length, and addresses were read before anybody
 * looked at how long they are: 15 KB held up everybody for a quarter of a second, each time that they were read. Twenty
 * requests to the summarizer, for which nobody needs an account, stopped everything for seconds; so did keys, webhooks and
 * MCP servers that were to be attached, and MCP services by what they named.
 */

let scene: Scene;
let worker: Worker;
let base: string;
before(async () => {
  worker = new Worker(new URL('hosts-freeze-the-loop.inside.ts', import.meta.url));
  const [port] = (await once(worker, 'message')) as [number];
  base = `http://127.0.0.1:${port}`;
  scene = await startScene({ AGENT_PRIVATE_HOSTS: `127.0.0.1:${port}` });
});
after(async () => {
  await scene.stop();
  await worker.terminate();
});

const HOST = longHost(5_000);
const MANY = 20;
const often = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: MANY }, work));

test('nobody in particular asks for a summary of it', { timeout: 120_000 }, async () => {
  await scene.unharmed(async () => {
    const asked = await often(() => send(`${scene.summarizer}/api/summarize`, 'POST', { url: HOST }));
    for (const { status, body } of asked)
      assert.deepEqual([status, body], [400, { error: 'url must be http or https' }]);
  });
});

const KEYED: readonly [what: string, method: string, path: string, body: object][] = [
  ['a webhook', 'POST', '/api/webhooks', { url: HOST, events: ['run.finished'] }],
  ['the origin of a key', 'POST', '/api/keys', { name: 'k', origins: Array.from({ length: 10 }, () => HOST) }],
  [
    'a browser that is to be told',
    'POST',
    '/api/push/subscriptions',
    { endpoint: HOST, keys: { p256dh: 'A'.repeat(87), auth: 'A'.repeat(22) } },
  ],
];
for (const [what, method, path, body] of KEYED)
  test(`as ${what}`, { timeout: 120_000 }, async () => {
    await scene.unharmed(async () => {
      for (const refused of await often(() => scene.attacker.ask(method, path, body)))
        assert.equal(refused.status, 400, JSON.stringify(refused.body).slice(0, 200));
    });
  });

test('as an MCP server, a vault’s server and a place to be told of a task', { timeout: 120_000 }, async () => {
  const { attacker } = scene;
  const key = { authorization: `Bearer ${attacker.key}` };
  const vault = await send(`${scene.backend}/v1/vaults`, 'POST', { display_name: 'v' }, key);
  assert.equal(vault.status, 200, JSON.stringify(vault.body));
  const rpc = {
    jsonrpc: '2.0',
    id: 1,
    method: 'CreateTaskPushNotificationConfig',
    params: { taskId: 'x', url: HOST },
  };
  const auth = { type: 'static_bearer', token: 't', mcp_server_url: HOST };
  await scene.unharmed(async () => {
    const path = `/api/agents/${attacker.agentId}/mcp-servers/evil`;
    for (const { status } of await often(() => attacker.ask('PUT', path, { url: HOST }))) assert.equal(status, 400);
    const credentials = `${scene.backend}/v1/vaults/${vault.body.id}/credentials`;
    for (const { status } of await often(() => send(credentials, 'POST', { auth }, key))) assert.equal(status, 400);
    const a2a = `/api/runtime/proxy/${attacker.agentId}/a2a`;
    const told = await often(() => attacker.askBackend('POST', a2a, rpc, { ...key, 'a2a-version': '1.0' }));
    for (const { body } of told) assert.equal(body.error.code, -32_602, JSON.stringify(body).slice(0, 200));
  });
});

async function agentWith(kind: string): Promise<string> {
  const toolsets = [{ type: 'mcp', name: 'evil', remote: { url: `${base}/${kind}` } }];
  const yaml_config = JSON.stringify({ agents: { root: { instruction: 'Help.', toolsets } } });
  const made = await scene.attacker.ask('POST', '/api/provision/team', { plan: 'network', yaml_config });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.agents[0].agentId as string;
}

for (const kind of ['asks', 'needs', 'endpoint'])
  test(`an MCP service that names it: ${kind}`, { timeout: 120_000 }, async () => {
    const agentId = await agentWith(kind);
    // The library is loaded with the first server.
    await scene.attacker.ask('POST', `/api/agents/${agentId}/mcp-servers/evil/test`, {});
    await scene.unharmed(async () => {
      const message = steps({ tool: 'evil_go', args: {} }, { say: 'done' });
      const { status, body } = await scene.attacker.ask('POST', '/api/chat', { agentId, message });
      assert.equal(status, 200, JSON.stringify(body).slice(0, 200));
    });
  });

test('an MCP service whose description names it', { timeout: 120_000 }, async () => {
  const agentId = await agentWith('oauth');
  await scene.unharmed(async () => {
    const asked = await scene.attacker.ask('POST', `/api/agents/${agentId}/mcp-servers/evil/connect`, {});
    assert.ok(asked.status >= 400, JSON.stringify(asked.body).slice(0, 200));
  });
});
