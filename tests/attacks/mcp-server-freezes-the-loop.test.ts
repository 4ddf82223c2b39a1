import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSandbox } from '@troupe/agent';
import { steps, type Step } from '@troupe/testing/services/director';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';

// A user's own MCP server froze all services with a regular expression in a schema, was asked for pages of tools for
// ever, also after cancel and deletion, and could say as much as it liked.
const skip = await createSandbox().unavailable();
let scene: Scene;
before(async () => {
  if (skip !== undefined) return;
  scene = await startScene();
  // The library is loaded with the first server.
  const agentId = await agentWith("'tools/list': () => ({ tools: [{ name: 'well', inputSchema: object }] }),");
  assert.equal((await chat(agentId, { say: 'loaded' })).body.reply, 'loaded');
});
after(() => scene?.stop());

/** A server over standard streams that answers as `answers` says; it counts pages in a file of the workspace. */
const program = (answers: string): string => `
const fs = require('node:fs');
let pages = 0;
const object = { type: 'object' };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }),
  ${answers}
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method](params) }) + '\\n');
});`;

async function agentWith(answers: string): Promise<string> {
  const agents = {
    root: {
      instruction: 'Help.',
      tools: ['filesystem'],
      toolsets: [{ type: 'mcp', name: 'evil', command: 'node', args: ['-e', program(answers)] }],
    },
  };
  const made = await scene.attacker.ask('POST', '/api/provision/team', {
    plan: 'network',
    yaml_config: JSON.stringify({ agents }),
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.agents[0].agentId as string;
}

const chat = (agentId: string, ...script: Step[]) =>
  scene.attacker.ask('POST', '/api/chat', { agentId, message: steps(...script) });

test('a regular expression in the schema of an answer', { skip }, async () => {
  const agentId = await agentWith(`
    'tools/list': () => ({ tools: [{ name: 'go', inputSchema: object,
      outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } }] }),
    'tools/call': () => ({ content: [], structuredContent: { a: 'a'.repeat(31) + '!' } }),`);
  await scene.unharmed(async () => {
    const { status, body } = await chat(agentId, { tool: 'evil_go', args: {} });
    assert.deepEqual([status, body.reply], [200, `{"a":"${'a'.repeat(31)}!"}`]);
  });
});

/** How many pages of its list a server was asked for, whose cursors are as `cursor` says. */
async function pagesAsked(cursor: string): Promise<string> {
  const agentId = await agentWith(`
    'tools/list': () => {
      fs.writeFileSync('pages', String(++pages));
      return { tools: [], nextCursor: ${cursor} };
    },`);
  assert.equal((await chat(agentId, { say: 'well' })).body.reply, 'well');
  const { body } = await chat(agentId, { tool: 'read_file', args: { path: 'pages' } });
  return body.reply as string;
}

test('pages of tools without an end', { skip }, async () => {
  await scene.unharmed(async () => assert.equal(await pagesAsked("'page' + pages"), '20'));
});

test('a page that leads to itself', { skip }, async () => {
  assert.equal(await pagesAsked("'more'"), '2');
});

test('schemas that are too large or too deep are left out, the others are offered', { skip }, async () => {
  const agentId = await agentWith(`
    'tools/list': () => {
      let deep = {};
      for (let i = 0; i < 2000; i++) deep = { properties: { a: deep } };
      return { tools: [
        { name: 'large', inputSchema: { ...object, title: 'x'.repeat(1e6) } },
        { name: 'deep', inputSchema: { ...object, properties: { deep } } },
        { name: 'good', inputSchema: object },
      ] };
    },
    'tools/call': ({ name }) => ({ content: [{ type: 'text', text: name }] }),`);
  await scene.unharmed(async () => {
    for (const name of ['large', 'deep'])
      assert.match((await chat(agentId, { tool: `evil_${name}`, args: {} })).body.reply, /no tool/i);
    assert.equal((await chat(agentId, { tool: 'evil_good', args: {} })).body.reply, 'good');
  });
});

test('a server that does not stop talking is ended', { skip }, async () => {
  const agentId = await agentWith(`
    'tools/list': () => ({ tools: [{ name: 'talk', inputSchema: object }] }),
    'tools/call': () => {
      const line = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } }) + '\\n';
      const talk = () => process.stdout.write(line.repeat(500), talk);
      talk();
    },`);
  await scene.unharmed(async () => {
    assert.match((await chat(agentId, { tool: 'evil_talk', args: {} })).body.reply, /closed/i);
  });
});
