import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { createStandIn, replyChat, replyJson } from '@troupe/ai';
import { digestOf } from '@troupe/kernel';

const TOKEN = 'a'.repeat(64);
const folder = await mkdtemp(path.join(tmpdir(), 'agent-app-'));
const SKILL = { path: 'SKILL.md', content: Buffer.from('---\nname: maps\ndescription: x\n---\nDraw it.\n') };
/** Those of its owner that the platform gives it. */
let servers: object[] = [];
const platform = await createStandIn((request, response) => {
  if (request.path === '/v1/mcp_servers') return replyJson(response, { servers });
  if (request.path.startsWith('/v1/mcp_servers/')) return replyJson(response, { success: true });
  if (request.path.startsWith('/v1/skill_files/'))
    return replyJson(response, { files: [{ path: SKILL.path, content: SKILL.content.toString('base64') }] });
  const asked = (request.body as { messages: { role: string; content: string }[] }).messages.at(-1);
  if (asked?.role === 'user' && asked.content === 'activate')
    return replyChat(request, response, {
      toolCalls: [{ id: 'c1', name: 'activate_skill', arguments: '{"name":"maps"}' }],
    });
  if (asked?.role === 'tool') return replyChat(request, response, { content: asked.content });
  const body = request.body as { messages: { content: string }[] };
  const said = body.messages.slice(1).map(({ content }) => content);
  replyChat(request, response, { content: `heard ${said.join(', ')}` });
});
const children = new Set<ChildProcess>();
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await platform.close();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the real program and waits until it says that it is ready. */
async function start(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'main.ts')], {
    env: {
      PATH: process.env['PATH'],
      AGENT_ID: 'ada',
      GATEWAY_TOKEN: TOKEN,
      PLATFORM_URL: platform.url,
      DATA_DIR: path.join(folder, 'data'),
      PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const ready = /"url":"([^"]+)"/.exec(output)?.[1];
      if (ready) resolve(ready);
    });
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${output}`)));
  });
  const chat = async (content: string, token = TOKEN) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user: 'me', messages: [{ role: 'user', content }] }),
    });
    return {
      status: response.status,
      body: (await response.json()) as { choices: { message: { content: string } }[] },
    };
  };
  return { child, url, chat, output: () => output };
}

describe('an agent as a program of its own', () => {
  test('fetches a skill that its definition names from the platform, and takes no other files for it', async () => {
    const definition = (digest: string) =>
      JSON.stringify({ name: 'Ada', tools: [], skills: [{ id: 's', name: 'maps', description: 'x', digest }] });
    const told = async (digest: string, data: string) => {
      const { chat, child } = await start({ DATA_DIR: path.join(folder, data), AGENT_DEFINITION: definition(digest) });
      const { body } = await chat('activate');
      child.kill('SIGTERM');
      await once(child, 'exit');
      return body.choices[0]?.message.content ?? '';
    };
    assert.match(await told(digestOf([SKILL]), 'with-skill'), /^Skill maps \(sha256:[\s\S]*Draw it\./);
    assert.match(await told('ab'.repeat(32), 'other-skill'), /not those that were accepted/);
    const asked = platform.requests.find((request) => request.path.startsWith('/v1/skill_files/'));
    assert.equal(asked?.headers['authorization'], `Bearer ${TOKEN}`);
    platform.requests.length = 0;
  });

  test('has its owner’s MCP servers from the platform, and tells it how they are', async () => {
    const opened = { url: 'http://127.0.0.1:1/mcp', headers: { 'x-key': 'k' }, env: {}, args: [] };
    servers = [{ ...opened, shared: 'srv', name: 'notes', approval: 'allow', isOff: false }];
    const { chat, child, url } = await start({ DATA_DIR: path.join(folder, 'with-servers') });
    await chat('hello');
    const asked = platform.requests.find((request) => request.path === '/v1/mcp_servers');
    assert.equal(asked?.headers['authorization'], `Bearer ${TOKEN}`);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const listed = await (await fetch(`${url}/mcp-servers`, { headers })).json();
    const [notes] = (listed as { servers: { name: string; inherited: boolean; state: string }[] }).servers;
    assert.deepEqual([notes?.name, notes?.inherited, notes?.state], ['notes', true, 'failed']);
    const told = () => platform.requests.find((request) => request.path === '/v1/mcp_servers/srv/state');
    while (!told()) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(told()?.body['state'], 'failed');
    servers = [];
    child.kill('SIGTERM');
    await once(child, 'exit');
    platform.requests.length = 0;
  });

  test('answers through the platform’s models, and keeps its conversation over a kill -9', async () => {
    const first = await start();
    assert.equal((await fetch(`${first.url}/health`)).status, 200);
    assert.equal((await first.chat('x', 'wrong')).status, 401);
    assert.equal((await first.chat('one')).body.choices[0]?.message.content, 'heard one');
    assert.ok(platform.requests.every((request) => request.headers['authorization'] === `Bearer ${TOKEN}`));
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');

    const second = await start();
    assert.equal((await second.chat('two')).body.choices[0]?.message.content, 'heard one, heard one, two');
    second.child.kill('SIGTERM');
    const [code] = (await once(second.child, 'exit')) as [number];
    assert.equal(code, 0);
    assert.ok(!second.output().includes(TOKEN));
  });

  test('says what is missing', async () => {
    await assert.rejects(start({ AGENT_ID: '', GATEWAY_TOKEN: 'short', PORT: '99999999' }), (error: Error) => {
      for (const name of ['AGENT_ID', 'GATEWAY_TOKEN', 'PORT'])
        assert.match(error.message, new RegExp(`^(exit 1: )?${name}: `, 'm'));
      return !error.message.includes('short');
    });
    await assert.rejects(
      start({ AGENT_DEFINITION: '{"tools":["rocket"]}', DATA_DIR: path.join(folder, 'other') }),
      /AGENT_DEFINITION/,
    );
  });
});
