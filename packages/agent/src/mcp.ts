import { Readable } from 'node:stream';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Log, Outbound } from '@troupe/kernel';
import type { McpServer } from './definition.ts';
import { watchResources } from './resource-watch.ts';
import { DEFAULT_LIMITS, type Sandbox } from './sandbox.ts';
import type { Tool, ToolContext, ToolResult } from './tool.ts';
import type { Workspace } from './workspace.ts';

/**
 * Tools of MCP servers: programs that run in the sandbox, or services that are reached through the guarded client. A
 * server is started when its tools are first needed and kept until the agent sleeps.
 */

export interface McpPool {
  tools: (servers: readonly McpServer[]) => Promise<Tool[]>;
  close: () => Promise<void>;
}

interface McpDeps {
  sandbox: Sandbox;
  workspace: () => Promise<Workspace>;
  outbound: Outbound;
  log: Log;
}

interface Connection {
  client: Client;
  tools: Tool[];
  close: () => Promise<void>;
}

const CALL_MS = 120_000;
const START_MS = 20_000;
const STREAM_MS = 300_000;
const MAX_TOOLS = 64;
const MAX_NAME = 64;

export function createMcpPool(deps: McpDeps): McpPool {
  const connections = new Map<string, Promise<Connection | undefined>>();

  function connection(server: McpServer): Promise<Connection | undefined> {
    const key = JSON.stringify(server);
    const known = connections.get(key);
    if (known) return known;
    const forget = (): void => void connections.delete(key);
    // A server that does not start leaves the agent without its tools, not without its voice; the next run tries again.
    const made = connect(deps, server, forget).catch((err: unknown) => {
      deps.log.warn({ err, server: server.name }, 'MCP server not available');
      forget();
      return undefined;
    });
    connections.set(key, made);
    return made;
  }

  return {
    async tools(servers) {
      const open = await Promise.all(servers.map(connection));
      return open.flatMap((one) => one?.tools ?? []);
    },
    async close() {
      const open = await Promise.all(connections.values());
      connections.clear();
      await Promise.all(open.map(async (one) => one?.close()));
    },
  };
}

async function connect(deps: McpDeps, server: McpServer, onClose: () => void): Promise<Connection> {
  // Loaded only where there is a server: the library costs more memory than an agent.
  const { Client: SdkClient } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new SdkClient({ name: 'troupe', version: '1.0.0' });
  const release =
    server.command === undefined ? await connectHttp(deps, server, client) : await connectStdio(deps, server, client);
  client.onclose = () => {
    release();
    onClose();
  };
  const close = async (): Promise<void> => {
    release();
    await client.close();
  };
  try {
    const { tools } = await client.listTools(undefined, { timeout: START_MS });
    const offered = tools
      .filter(({ name }) => server.tools === undefined || server.tools.includes(name))
      .slice(0, MAX_TOOLS);
    return {
      client,
      close,
      tools: offered.map((one) => ({
        name: `${server.name}_${one.name}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME),
        toolset: server.name,
        description: (one.description ?? '').slice(0, 1000),
        parameters: one.inputSchema as Record<string, unknown>,
        // What a server says of itself is a hint; only reading without any effect is believed.
        repeatable: one.annotations?.readOnlyHint === true,
        run: (args, context) => callTool(client, one.name, args, context),
      })),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function connectStdio({ sandbox, workspace }: McpDeps, server: McpServer, client: Client): Promise<() => void> {
  const reason = await sandbox.unavailable();
  if (reason !== undefined) throw new Error(`there is no sandbox to run the server in (${reason})`);
  const { createStdioTransport } = await import('./stdio-transport.ts');
  const { root, quotaBytes } = await workspace();
  const transport = createStdioTransport(
    sandbox.wrap({ workspace: root, argv: [server.command ?? '', ...server.args], env: server.env }),
  );
  await client.connect(transport, { timeout: START_MS });
  return watchResources({
    pid: transport.pid(),
    memoryBytes: DEFAULT_LIMITS.memoryMb * 1024 * 1024,
    processes: DEFAULT_LIMITS.processes,
    workspace: root,
    quotaBytes,
    onExceeded: () => void transport.close(),
  });
}

async function connectHttp({ outbound }: McpDeps, server: McpServer, client: Client): Promise<() => void> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new StreamableHTTPClientTransport(new URL(server.url ?? ''), {
    requestInit: { headers: server.headers },
    fetch: guardedFetch(outbound),
  });
  // The SDK's own class does not fit its interface under exact optional properties.
  await client.connect(transport as Parameters<Client['connect']>[0], { timeout: START_MS });
  return () => {};
}

/** The guarded client in the shape of `fetch`, as far as the SDK uses it. */
function guardedFetch(outbound: Outbound) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const method = init.method ?? 'GET';
    const answer = await outbound.fetch(url, {
      method: method as 'GET' | 'POST' | 'DELETE',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' && { body: init.body }),
      ...(init.signal && { signal: init.signal }),
      timeout: STREAM_MS,
      redirects: 0,
    });
    const bare = answer.status === 204 || answer.status === 202 || answer.status === 304;
    if (bare) answer.cancel();
    const body = bare ? null : (Readable.toWeb(Readable.from(answer.body)) as ReadableStream);
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

async function callTool(client: Client, name: string, args: unknown, { signal }: ToolContext): Promise<ToolResult> {
  const result = await client.callTool({ name, arguments: args as Record<string, unknown> }, undefined, {
    signal,
    timeout: CALL_MS,
  });
  const items = (result.content ?? []) as { type: string; text?: string }[];
  const content = items.map((item) => (item.type === 'text' ? (item.text ?? '') : `[${item.type}]`)).join('\n');
  return { content: content || '(no output)', ...(result.isError === true && { isError: true }) };
}
