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
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createOutbound, createWorkerPool, silentLog } from '@troupe/kernel';
import { z } from 'zod';
import { newDefinition, type McpServer } from '@troupe/domain';
import { createEverything } from '@troupe/testing/mcp/everything';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createSeats, type Seats } from '../sandbox/seats.ts';
import { createSqliteStore } from '../store/store-sqlite.ts';
import type { Tool } from './tool.ts';
import { createToolkit, type ToolkitDeps } from './toolkit.ts';
import { call } from './testing.ts';

type EgressRules = NonNullable<ToolkitDeps['egress']>;

async function until(ready: () => Promise<boolean>): Promise<void> {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 20));
}

const folder = await mkdtemp(path.join(tmpdir(), 'agent-mcp-'));
await copyFile(path.join(import.meta.dirname, '../fixtures/mcp-server.mjs'), path.join(folder, 'server.mjs'));
const sandbox = createSandbox();
const pool = createWorkerPool();
after(() => pool.close());
const toolkitFor = (allowLoopback = true, box = sandbox, egress: EgressRules = {}) => {
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
    egress,
  });
  after(async () => {
    await toolkit.close();
    await outbound.close();
  });
  return { ...toolkit, logs: async () => (await store.logs({ limit: 50 })).logs };
};
after(() => rm(folder, { recursive: true, force: true }));

/** Whether this owner has a seat left. */
function canTake(seats: Seats): boolean {
  const give = seats.take('user');
  give?.();
  return give !== undefined;
}

const definition = (server: Partial<McpServer>) =>
  newDefinition({ name: 'A', tools: [], mcpServers: [{ name: 'calc', ...server }] });
const program = { command: 'node', args: ['server.mjs'] };

describe('an MCP server as a program', { skip: await sandbox.unavailable() }, () => {
  test('of one owner’s agents so many run at once, and one that ends makes room', async () => {
    const seats = { ...sandbox.seats, program: createSeats({ all: 2, perOwner: 1 }) };
    const few = { ...sandbox, seats };
    const first = toolkitFor(true, few);
    assert.equal((await first.tools(definition(program))).length, 4);
    const [second] = await toolkitFor(true, few).tools(definition(program));
    assert.match(second!.description, /too many programs of your MCP servers run already/);
    // One that does not start leaves its seat, too.
    const other = seats.program.take('somebody else');
    assert.ok(other);
    await first.close();
    await until(async () => canTake(seats.program));
    await toolkitFor(true, few).tools(definition({ command: '/nowhere' }));
    await until(async () => canTake(seats.program));
    assert.equal((await toolkitFor(true, few).tools(definition(program))).length, 4);
  });

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
        ['calc_get', false],
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

  test('one that does not start says why, to its owner and to the model', async () => {
    const toolkit = toolkitFor();
    const tools = await toolkit.tools(definition({ command: '/nowhere' }));
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['calc_unavailable'],
    );
    assert.match(tools[0]!.description, /No such file or directory/);
    const tried = await call(tools, 'calc_unavailable', {});
    assert.deepEqual([tried.isError, tried.content.startsWith('calc cannot be used: the program ended')], [true, true]);
    const [state] = toolkit.mcp.states(definition({ command: '/nowhere' }).mcpServers);
    assert.equal(state?.state, 'failed');
    const { logs } = toolkit;
    await until(async () => (await logs()).some(({ message }) => /MCP server calc cannot be used/.test(message)));
    const off = toolkitFor(true, createSandbox({ bwrap: '/nowhere' }));
    assert.match((await off.tools(definition(program)))[0]!.description, /there is no sandbox to run the program in/);
  });

  test('one that has to be downloaded says at once from where, if that is closed', async () => {
    const [tool] = await toolkitFor().tools(definition({ command: 'uvx', args: ['some-server'] }));
    assert.match(tool!.description, /uvx downloads the program from pypi\.org.*safety\.allowedDomains/);
  });

  for (const [way, then] of [
    ['ends at', 'process.exit(1)'],
    ['never answers', 'continue'],
  ])
    test(`one that ${way} a word of the newest revision is spoken to as of old`, async () => {
      const old = `process.stdin.on('data', (text) => {
      for (const line of String(text).split('\\n').filter(Boolean)) {
        const { id, method } = JSON.parse(line);
        if (method === 'server/discover') ${then};
        const result = method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'old', version: '1' } }
          : { tools: [{ name: 'well', inputSchema: { type: 'object' } }] };
        if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
      }
    });`;
      const tools = await toolkitFor().tools(definition({ command: 'node', args: ['-e', old] }));
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['calc_well'],
      );
    });

  test('one that was changed or removed is ended, also with other domains', async () => {
    const toolkit = toolkitFor();
    const server = definition(program);
    const { safety } = server.config;
    const allowing = {
      ...server,
      config: { ...server.config, safety: { ...safety, allowedDomains: ['example.com'] } },
    };
    const tools = await toolkit.tools(server);
    const others = await toolkit.tools(allowing);
    await assert.rejects(call(tools, 'calc_add', { a: 2, b: 3 }), /ended|closed|not connected/i);
    assert.equal((await call(others, 'calc_add', { a: 2, b: 3 })).content, '5');
    await toolkit.mcp.forget('calc');
    await assert.rejects(call(others, 'calc_add', { a: 2, b: 3 }), /ended|closed|not connected/i);
    assert.equal(toolkit.mcp.states(server.mcpServers)[0]?.state, 'unused');
    assert.equal((await call(await toolkit.tools(server), 'calc_add', { a: 2, b: 3 })).content, '5');
  });

  test('reaches the domains that the agent may reach, and no others', async () => {
    const web = http.createServer((_request, response) => response.end('from outside'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    after(() => web.close().closeAllConnections());
    const port = (web.address() as AddressInfo).port;
    const egress = { rules: { privateHosts: [`localhost:${port}`] } };
    const toolkit = toolkitFor(true, sandbox, egress);
    const open = definition(program);
    open.config.safety.allowedDomains = ['localhost'];
    const got = (url: string) => async (tools: readonly Tool[]) => (await call(tools, 'calc_get', { url })).content;
    assert.equal(await got(`http://localhost:${port}/`)(await toolkit.tools(open)), '200 from outside');
    assert.match(await got('http://example.org/')(await toolkit.tools(open)), /^(403|failed)/);
    assert.match(await got(`http://localhost:${port}/`)(await toolkit.tools(definition(program))), /^failed/);
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
  const [closed] = await toolkitFor(false).tools(definition({ url }));
  assert.match(closed!.description, /private network.*AGENT_PRIVATE_HOSTS/, 'a private address is refused');
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
    const isProbe = request.headers['mcp-method'] === 'server/discover';
    seen.push(request.method === 'POST' && !id && !isProbe ? 'initialize' : `${request.method}`);
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

async function listening(answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a service of the newest revision is used without a session', async () => {
  const everything = createEverything();
  const methods: (string | undefined)[] = [];
  const origin = await listening((request, response) => {
    methods.push(request.headers['mcp-method'] as string | undefined);
    void answerWith(everything.fetch, request, response);
  });
  const tools = await toolkitFor().tools(
    definition({ url: `${origin}/mcp`, tools: ['test_simple_text', 'test_sampling'] }),
  );
  assert.equal((await call(tools, 'calc_test_simple_text', {})).content, 'This is a simple text response for testing.');
  assert.ok(!methods.includes('initialize'));
  assert.deepEqual([...new Set(methods)], ['server/discover', 'tools/list', 'tools/call']);
});

async function answerWith(
  answer: (request: Request) => Promise<Response>,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const chunks = await request.toArray();
  const answered = await answer(
    new Request(`http://x${request.url}`, {
      method: request.method ?? 'GET',
      headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks as Buffer[]) }),
    }),
  );
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  response.end(await answered.text());
}

test('a service of the oldest kind answers in the one stream that it has', async () => {
  let transport: SSEServerTransport | undefined;
  const origin = await listening((request, response) => {
    if (request.method === 'GET') {
      transport = new SSEServerTransport('/messages', response);
      const sdk = new SdkServer({ name: 'old', version: '1' });
      sdk.registerTool('old', {}, async () => ({ content: [{ type: 'text', text: 'as of old' }] }));
      void sdk.connect(transport as never);
    } else if (request.url?.startsWith('/messages')) void transport?.handlePostMessage(request, response);
    else response.writeHead(405).end();
  });
  const tools = await toolkitFor().tools(definition({ url: `${origin}/sse` }));
  assert.equal((await call(tools, 'calc_old', {})).content, 'as of old');
});

test('a service that was away is tried again when the model asks for it, and not before', async () => {
  let asked = 0;
  let isUp = false;
  const everything = createEverything();
  const origin = await listening((request, response) => {
    asked += 1;
    if (isUp) void answerWith(everything.fetch, request, response);
    else response.writeHead(503).end('away');
  });
  const toolkit = toolkitFor();
  const server = definition({ url: `${origin}/mcp`, tools: ['test_simple_text'] });
  const tools = await toolkit.tools(server);
  const before = asked;
  assert.equal((await toolkit.tools(server))[0]?.name, 'calc_unavailable');
  assert.equal(asked, before, 'it rests');
  assert.equal((await call(tools, 'calc_unavailable', {})).isError, true);
  isUp = true;
  assert.match((await call(tools, 'calc_unavailable', {})).content, /is back/);
  assert.deepEqual(
    (await toolkit.tools(server)).map(({ name }) => name),
    ['calc_test_simple_text'],
  );
});

test('a service that works is asked again when its owner tries it', async () => {
  let isUp = true;
  const everything = createEverything();
  const origin = await listening((request, response) => {
    if (isUp) void answerWith(everything.fetch, request, response);
    else response.writeHead(503).end('away');
  });
  const toolkit = toolkitFor();
  const server = definition({ url: `${origin}/mcp`, tools: ['test_simple_text'] }).mcpServers[0]!;
  const tried = async () => (await toolkit.mcp.test(server, { allowedDomains: [] })).state;
  assert.equal(await tried(), 'connected');
  isUp = false;
  assert.equal(await tried(), 'failed');
  assert.match((await toolkit.mcp.test(server, { allowedDomains: [] })).error ?? '', /503|away/);
  isUp = true;
  assert.equal(await tried(), 'connected');
});

test('a service that asks for authorization says so', async () => {
  const origin = await listening((_request, response) => response.writeHead(401).end());
  const toolkit = toolkitFor();
  const server = definition({ url: `${origin}/mcp` });
  const [tool] = await toolkit.tools(server);
  assert.match(tool!.description, /asks for authorization/);
  assert.equal(toolkit.mcp.states(server.mcpServers)[0]?.state, 'consent');
});
