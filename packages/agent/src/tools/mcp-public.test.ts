import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newDefinition, type McpServer } from '@troupe/domain';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { needs } from '@troupe/testing/machine/needs';
import { freePorts } from '@troupe/testing/processes/program';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createSqliteStore } from '../store/store-sqlite.ts';
import { call } from './testing.ts';
import { createHeld, type ToolContext } from './tool.ts';
import { createToolkit } from './toolkit.ts';

/** The public MCP servers, as their makers publish them: programs in the sandbox, and a service of both older kinds. */

const JUDGES = path.resolve(import.meta.dirname, '../../../../tests/judges/node_modules');
const SERVER = (name: string): string => `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;

/** A package and all that it needs, into the agent's workspace: nothing else of the machine is in the sandbox. */
async function install(name: string, workspace: string): Promise<void> {
  const copied = new Set<string>();
  const waiting = [path.join(JUDGES, name)];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (copied.has(folder)) continue;
    copied.add(folder);
    await cp(folder, path.join(workspace, 'node_modules', path.relative(JUDGES, folder)), { recursive: true });
    const about = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    for (const one of Object.keys(about.dependencies ?? {})) waiting.push(found(one, folder));
  }
}

/** As Node looks for it. */
function found(name: string, from: string): string {
  for (let folder = from; folder.startsWith(JUDGES); folder = path.dirname(folder)) {
    const inside = path.join(folder, folder === JUDGES ? '' : 'node_modules', name);
    if (existsSync(inside)) return inside;
  }
  throw new Error(`${name} is not installed`);
}

/** It says that it starts before it listens. */
async function accepts(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = net.connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await delay(50);
  }
  throw new Error(`the server ended with ${child.exitCode}`);
}

const pool = createWorkerPool();
const sandbox = createSandbox();
let folder: string;
after(() => pool.close());

async function toolsOf(server: Partial<McpServer>) {
  const outbound = createOutbound({ allowLoopback: true });
  const store = createSqliteStore({ file: ':memory:', agentId: 'a' });
  const toolkit = createToolkit({
    store,
    workspaceRoot: folder,
    sandbox,
    outbound,
    log: silentLog,
    pool,
    owner: 'user',
    egress: {},
  });
  after(async () => {
    await toolkit.close();
    await outbound.close();
  });
  const definition = newDefinition({ name: 'A', tools: [], mcpServers: [{ name: 'public', ...server }] });
  const { state, error } = await toolkit.mcp.test(definition.mcpServers[0]!, { allowedDomains: [] });
  assert.equal(state, 'connected', error);
  return toolkit.tools(definition);
}

describe('public MCP servers', { skip: needs('the MCP judges') || (await sandbox.unavailable()) }, () => {
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'agent-mcp-public-'));
    for (const name of ['everything', 'filesystem', 'memory'])
      await install(`@modelcontextprotocol/server-${name}`, folder);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('filesystem writes and reads in the workspace', async () => {
    const tools = await toolsOf({ command: 'node', args: [SERVER('filesystem'), '.'] });
    await call(tools, 'public_write_file', { path: 'note.txt', content: 'written by it' });
    assert.equal(await readFile(path.join(folder, 'note.txt'), 'utf8'), 'written by it');
    assert.match((await call(tools, 'public_read_text_file', { path: 'note.txt' })).content, /written by it/);
  });

  test('memory keeps what it is told', async () => {
    const env = { MEMORY_FILE_PATH: '/workspace/memory.jsonl' };
    const tools = await toolsOf({ command: 'node', args: [SERVER('memory')], env });
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }];
    await call(tools, 'public_create_entities', { entities });
    assert.match((await call(tools, 'public_read_graph', {})).content, /likes tea/);
  });

  test('everything, as a program', async () => {
    const tools = await toolsOf({ command: 'node', args: [SERVER('everything')] });
    assert.match((await call(tools, 'public_echo', { message: 'hello' })).content, /hello/);
  });

  test('everything asks its person', async () => {
    const tools = await toolsOf({ command: 'node', args: [SERVER('everything')] });
    const shared = { held: createHeld(), callId: 'asking' };
    const ask = (person: ToolContext['person']) =>
      call(tools, 'public_trigger-elicitation-request', {}, { ...shared, person });
    const { asks: question } = await ask({});
    assert.match(question!.message, /name.*\(needed/);
    const { content } = await ask({ said: { question: question!, approved: true, answer: 'name: Ada Lovelace' } });
    assert.match(content, /accept[^]*Ada Lovelace/);
    assert.match((await call(tools, 'public_trigger-elicitation-request', {})).content, /declined/);
  });

  for (const [kind, at] of [
    ['streamableHttp', 'mcp'],
    ['sse', 'sse'],
  ] as const)
    test(`everything, as a service: ${kind}`, async () => {
      const [port] = await freePorts(1);
      const file = path.join(folder, SERVER('everything'));
      const child = spawn(process.execPath, [file, kind], {
        env: { PATH: process.env['PATH'], PORT: String(port) },
        stdio: 'ignore',
      });
      after(() => child.kill());
      await accepts(port!, child);
      const tools = await toolsOf({ url: `http://127.0.0.1:${port}/${at}` });
      assert.match((await call(tools, 'public_echo', { message: 'hello' })).content, /hello/);
    });
});
