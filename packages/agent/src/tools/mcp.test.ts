import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer as SdkServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { z } from 'zod';
import { newDefinition, type McpServer } from '@troupe/domain';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createSqliteStore } from '../store/store-sqlite.ts';
import { createToolkit } from './toolkit.ts';
import { call } from './testing.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'agent-mcp-'));
await copyFile(path.join(import.meta.dirname, '../fixtures/mcp-server.mjs'), path.join(folder, 'server.mjs'));
const sandbox = createSandbox();
const pool = createWorkerPool();
after(() => pool.close());
const toolkitFor = (allowLoopback = true, box = sandbox) => {
  const outbound = createOutbound({ allowLoopback });
  const store = createSqliteStore({ file: ':memory:', agentId: 'a' });
  const toolkit = createToolkit({
    store,
    workspaceRoot: folder,
    sandbox: box,
    outbound,
    log: silentLog,
    pool,
    owner: 'user',
  });
  after(async () => {
    await toolkit.close();
    await outbound.close();
  });
  return toolkit;
};
after(() => rm(folder, { recursive: true, force: true }));

const definition = (server: Partial<McpServer>) =>
  newDefinition({ name: 'A', tools: [], mcpServers: [{ name: 'calc', ...server }] });
const program = { command: 'node', args: ['server.mjs'] };

describe('an MCP server as a program', { skip: await sandbox.unavailable() }, () => {
  test('gives its tools, and runs in the sandbox without anything of ours', async () => {
    process.env['PLATFORM_SECRET'] = 'do-not-show';
    const toolkit = toolkitFor();
    const tools = await toolkit.tools(definition({ ...program, env: { GIVEN: 'yes' } }));
    assert.deepEqual(
      tools.map(({ name, repeatable }) => [name, repeatable]),
      [
        ['calc_add', false],
        ['calc_environment', true],
        ['calc_flood', false],
      ],
    );
    assert.equal((await call(tools, 'calc_add', { a: 2, b: 3 })).content, '5');
    const seen = (await call(tools, 'calc_environment', {})).content;
    assert.match(seen, /GIVEN=yes/);
    assert.match(seen, /"cwd":"\/workspace"/);
    assert.doesNotMatch(seen, /do-not-show/);
  });

  test('only the tools on the list are offered', async () => {
    const tools = await toolkitFor().tools(definition({ ...program, tools: ['add'] }));
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['calc_add'],
    );
  });

  test('one that floods is ended, and started again for the next run', async () => {
    const toolkit = toolkitFor();
    const tools = await toolkit.tools(definition(program));
    await assert.rejects(call(tools, 'calc_flood', {}), /closed/i);
    const again = await toolkit.tools(definition(program));
    assert.equal((await call(again, 'calc_add', { a: 1, b: 1 })).content, '2');
  });

  test('one that does not start leaves the agent without its tools', async () => {
    assert.deepEqual(await toolkitFor().tools(definition({ command: '/nowhere' })), []);
    assert.deepEqual(await toolkitFor(true, createSandbox({ bwrap: '/nowhere' })).tools(definition(program)), []);
  });
});

test('an MCP server as a service is reached through the guarded client', async () => {
  const seen: (string | undefined)[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request.headers['x-key'] as string | undefined);
    const sdk = new SdkServer({ name: 'web', version: '1' });
    sdk.registerTool('double', { inputSchema: { n: z.number() } }, async ({ n }) => ({
      content: [{ type: 'text', text: String(2 * n) }],
    }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    void sdk
      .connect(transport as Parameters<typeof sdk.connect>[0])
      .then(() => transport.handleRequest(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const tools = await toolkitFor().tools(definition({ url, headers: { 'x-key': 'k' } }));
  assert.equal((await call(tools, 'calc_double', { n: 21 })).content, '42');
  assert.ok(seen.every((key) => key === 'k'));
  const before = seen.length;
  assert.deepEqual(await toolkitFor(false).tools(definition({ url })), [], 'a private address is refused');
  assert.equal(seen.length, before);
});

test('a service that keeps sessions may restart, lists its tools in pages, and is told goodbye', async () => {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const seen: string[] = [];
  async function open(): Promise<StreamableHTTPServerTransport> {
    const sdk = new Server({ name: 'paged', version: '1' }, { capabilities: { tools: {} } });
    const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } });
    sdk.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
      params?.cursor === 'next'
        ? { tools: [tool('two'), tool('t.wo'), tool('t_wo')] }
        : { tools: [tool('one')], nextCursor: 'next' },
    );
    sdk.setRequestHandler(CallToolRequestSchema, ({ params: { name } }) =>
      name === 'one'
        ? { content: [{ type: 'text', text: `one of ${seen.filter((each) => each === 'initialize').length}` }] }
        : { content: [], structuredContent: { rows: [1, 2] } },
    );
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await sdk.connect(transport as Parameters<typeof sdk.connect>[0]);
    return transport;
  }
  async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'] as string | undefined;
    seen.push(request.method === 'POST' && !id ? 'initialize' : `${request.method}`);
    const transport = id ? sessions.get(id) : await open();
    if (transport) return transport.handleRequest(request, response);
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } }));
  }
  const server = http.createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close().closeAllConnections());
  const toolkit = toolkitFor();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const tools = await toolkit.tools(definition({ url }));
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['calc_one', 'calc_two', 'calc_t_wo'],
  );
  assert.equal((await call(tools, 'calc_one', {})).content, 'one of 1');
  assert.equal((await call(tools, 'calc_two', {})).content, '{"rows":[1,2]}');
  sessions.clear();
  assert.equal((await call(tools, 'calc_one', {})).content, 'one of 2');
  assert.equal((await call(await toolkit.tools(definition({ url })), 'calc_one', {})).content, 'one of 2');
  await toolkit.close();
  assert.ok(seen.includes('DELETE'));
});
