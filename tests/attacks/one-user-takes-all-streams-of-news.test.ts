import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

/** All agents of a process shared 64 streams that wait for news; the keys of one user took them all. */

let scene: Scene;
const gone = new AbortController();
before(async () => {
  scene = await startScene();
});
after(async () => {
  gone.abort();
  await scene.stop();
});

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The status, and the first words of the stream. */
async function listen(agentId: string, key: string): Promise<string> {
  const params = { _meta: META, notifications: { toolsListChanged: true } };
  const answer = await fetch(`${scene.backend}/api/runtime/proxy/${agentId}/mcp`, {
    method: 'POST',
    signal: gone.signal,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }),
  });
  const { value } = await answer.body!.getReader().read();
  return `${answer.status} ${Buffer.from(value ?? []).toString()}`;
}

test('who opens as many as he can leaves others theirs', async () => {
  const { attacker, bystander } = scene;
  const keys: string[] = [];
  for (let n = 0; n < 7; n += 1) keys.push((await attacker.ask('POST', '/api/keys', { name: `k${n}` })).body.key);
  const opened: string[] = [];
  await scene.unharmed(async () => {
    for (const key of keys) for (let n = 0; n < 10; n += 1) opened.push(await listen(attacker.agentId, key));
  });
  assert.equal(opened.filter((said) => /^200 .*acknowledged/s.test(said)).length, 8);
  assert.match(opened.at(-1)!, /^429 .*Too many calls at once/s);
  const { key } = (await bystander.ask('POST', '/api/keys', { name: 'own' })).body;
  assert.match(await listen(bystander.agentId, key), /^200 .*acknowledged/s);
});
