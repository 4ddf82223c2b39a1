import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { steps, type Step } from '@troupe/testing/services/director';

/**
 * A document of 40 KB that describes an interface stood for 8,000,000,000 values, because each of its references was put
 * in: all services were silent until memory ended. And `..` as an argument led to another operation of the interface, with
 * the owner's headers.
 */

const MANY = 250;
const references = Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`k${n}`, { $ref: '#/components/s' }]));
const document = {
  openapi: '3.0.0',
  components: { s: references },
  paths: {
    '/grows': { post: { operationId: 'grow', requestBody: { $ref: '#/components/s' } } },
    '/users/{id}/read': { get: { operationId: 'look', parameters: [{ name: 'id', in: 'path' }] } },
  },
};
const seen: string[] = [];
const server = createServer((request, response) => {
  if (request.url === '/document.json') return void response.end(JSON.stringify(document));
  seen.push(`${request.method} ${request.url}`);
  response.end('seen');
});

let scene: Scene;
let base: string;
let agentId: string;
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  base = `http://${host}`;
  scene = await startScene({ AGENT_PRIVATE_HOSTS: host });
});
after(async () => {
  await scene.stop();
  server.close().closeAllConnections();
});

async function agentWith(toolset: object): Promise<string> {
  const agents = { root: { instruction: 'Help.', toolsets: [toolset] } };
  const yaml_config = JSON.stringify({ agents });
  const made = await scene.attacker.ask('POST', '/api/provision/team', { plan: 'network', yaml_config });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.agents[0].agentId as string;
}
const chat = async (...script: Step[]): Promise<string> => {
  const { body } = await scene.attacker.ask('POST', '/api/chat', { agentId, message: steps(...script) });
  return String(body.reply ?? body.error);
};

test('references that stand for more than any machine holds', async () => {
  agentId = await agentWith({ type: 'openapi', url: `${base}/document.json` });
  await scene.unharmed(async () => {
    assert.equal(await chat({ tool: 'look', args: { id: 'ann' } }), 'seen', 'what can be read is offered');
    assert.match(await chat({ tool: 'grow', args: {} }), /no tool grow/i);
  });
});

test('an argument that leads to another operation', async () => {
  seen.length = 0;
  for (const id of ['..', '.', '../..', '%2e%2e'])
    assert.match(
      await chat({ tool: 'look', args: { id } }),
      id.includes('/') || id.includes('%') ? /seen/ : /must not be/,
    );
  assert.deepEqual(seen, ['GET /users/..%2F../read', 'GET /users/%252e%252e/read']);
  seen.length = 0;
  agentId = await agentWith({
    type: 'api',
    api_config: {
      name: 'look',
      endpoint: `${base}/users/\${id}/read`,
      method: 'GET',
      args: { id: { type: 'string' } },
      required: ['id'],
    },
  });
  assert.match(await chat({ tool: 'look', args: { id: '..' } }), /must not be/);
  assert.equal(await chat({ tool: 'look', args: { id: 'a.b' } }), 'seen');
  assert.deepEqual(seen, ['GET /users/a.b/read']);
});
