import { setTimeout } from 'node:timers/promises';
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
const GOODBYE_MS = 2_000;
const MAX_TOOLS = 64;
const MAX_NAME = 64;

export function createMcpPool(deps: McpDeps): McpPool {
  const connections = new Map<string, Promise<Connection | undefined>>();

  function connection(server: McpServer): Promise<Connection | undefined> {
    const key = JSON.stringify(server);
    const known = connections.get(key);
    if (known) return known;
    const forget = (): void => {
      if (connections.get(key) === made) connections.delete(key);
    };
    const renew = (): Promise<Connection | undefined> => {
      forget();
      return connection(server);
    };
    // A server that does not start leaves the agent without its tools, not without its voice; the next run tries again.
    const made = connect(deps, server, { forget, renew }).catch((err: unknown) => {
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

interface Place {
  forget: () => void;
  /** A connection in place of this one. */
  renew: () => Promise<Connection | undefined>;
}

async function connect(deps: McpDeps, server: McpServer, { forget, renew }: Place): Promise<Connection> {
  // Loaded only where there is a server: the library costs more memory than an agent.
  const { Client: SdkClient } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new SdkClient({ name: 'troupe', version: '1.0.0' });
  const { release, goodbye } =
    server.command === undefined ? await connectHttp(deps, server, client) : await connectStdio(deps, server, client);
  client.onclose = () => {
    release?.();
    forget();
  };
  const close = async (): Promise<void> => {
    release?.();
    await goodbye?.();
    await client.close();
  };
  try {
    const offered = (await listTools(client, server)).map((one) => ({ one, name: nameOf(server, one.name) }));
    // Models know a tool by its name alone.
    const unlike = offered.filter(({ name }, index) => offered.findIndex((other) => other.name === name) === index);
    return {
      client,
      close,
      tools: unlike.map(({ one, name }) => ({
        name,
        toolset: server.name,
        description: (one.description ?? '').slice(0, 1000),
        parameters: one.inputSchema as Record<string, unknown>,
        // What a server says of itself is a hint; only reading without any effect is believed.
        repeatable: one.annotations?.readOnlyHint === true,
        run: async (args, context) => {
          try {
            return await callTool(client, one.name, args, context);
          } catch (error) {
            if (!isSessionGone(error)) throw error;
            void client.close();
            const fresh = await renew();
            if (!fresh) throw error;
            return callTool(fresh.client, one.name, args, context);
          }
        },
      })),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const nameOf = (server: McpServer, tool: string): string =>
  `${server.name}_${tool}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME);

async function listTools(client: Client, server: McpServer) {
  const found: Awaited<ReturnType<Client['listTools']>>['tools'] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools({ cursor }, { timeout: START_MS });
    found.push(...page.tools.filter(({ name }) => server.tools === undefined || server.tools.includes(name)));
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < MAX_TOOLS);
  return found.slice(0, MAX_TOOLS);
}

/** The server has forgotten the session, as after a restart, and has not looked at the call: a new one may make it. */
const isSessionGone = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 404;

interface Link {
  release?: () => void;
  goodbye?: () => Promise<void>;
}

async function connectStdio({ sandbox, workspace }: McpDeps, server: McpServer, client: Client): Promise<Link> {
  const reason = await sandbox.unavailable();
  if (reason !== undefined) throw new Error(`there is no sandbox to run the server in (${reason})`);
  const { createStdioTransport } = await import('./stdio-transport.ts');
  const { root, quotaBytes } = await workspace();
  const transport = createStdioTransport(
    sandbox.wrap({ workspace: root, argv: [server.command ?? '', ...server.args], env: server.env }),
  );
  await client.connect(transport, { timeout: START_MS });
  const release = watchResources({
    pid: transport.pid(),
    memoryBytes: DEFAULT_LIMITS.memoryMb * 1024 * 1024,
    processes: DEFAULT_LIMITS.processes,
    workspace: root,
    quotaBytes,
    onExceeded: () => void transport.close(),
  });
  return { release };
}

async function connectHttp({ outbound, log }: McpDeps, server: McpServer, client: Client): Promise<Link> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new StreamableHTTPClientTransport(new URL(server.url ?? ''), {
    requestInit: { headers: server.headers },
    fetch: guardedFetch(outbound),
  });
  // The SDK's own class does not fit its interface under exact optional properties.
  await client.connect(transport as Parameters<Client['connect']>[0], { timeout: START_MS });
  const goodbye = (): Promise<void> => {
    const said = transport.terminateSession().catch((err: unknown) => {
      log.debug({ err, server: server.name }, 'MCP session not ended');
    });
    // Nobody waits long for a server that does not listen.
    return Promise.race([said, setTimeout(GOODBYE_MS, undefined, { ref: false })]);
  };
  return { goodbye };
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
    const body = bare ? null : streamOf(answer);
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

/** What is given up before it was read is given up at the server too. */
function streamOf({ body, cancel }: Awaited<ReturnType<Outbound['fetch']>>): ReadableStream {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => cancel(),
  });
}

async function callTool(client: Client, name: string, args: unknown, { signal }: ToolContext): Promise<ToolResult> {
  const result = await client.callTool({ name, arguments: args as Record<string, unknown> }, undefined, {
    signal,
    timeout: CALL_MS,
  });
  const items = (result.content ?? []) as Item[];
  const structured = items.length === 0 && result.structuredContent;
  const content = structured ? JSON.stringify(structured) : items.map(textOf).join('\n');
  return { content: content || '(no output)', ...(result.isError === true && { isError: true }) };
}

interface Item {
  type: string;
  text?: string;
  uri?: string;
  resource?: { uri?: string; text?: string };
}

const textOf = ({ type, text, uri, resource }: Item): string =>
  text ?? resource?.text ?? `[${[type, uri ?? resource?.uri].filter(Boolean).join(' ')}]`;
