import { setTimeout } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import type { Log, Outbound } from '@troupe/kernel';
import type { McpServer } from '@troupe/domain';
import { listTools, sizeOf } from './mcp-listing.ts';
import { watchResources } from '../sandbox/resource-watch.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Tool, ToolContext, ToolResult } from './tool.ts';
import type { Workspace } from '../workspace/workspace.ts';

/**
 * Tools of MCP servers: programs that run in the sandbox, or services that are reached through the guarded client. A
 * server is started when its tools are first needed and kept until the agent sleeps.
 */

export interface McpPool {
  /** Given up by everybody who asked, servers are not listened to any further. */
  tools: (servers: readonly McpServer[], signal?: AbortSignal) => Promise<Tool[]>;
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
const MAX_NAME = 64;
/** Of one answer, or of one stream of them: it is read on the loop. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
/** A stream that ends is opened again, but not as often as the server likes. */
const STREAM_EVERY_MS = 2_000;
const MAX_RESULT = { characters: 1024 * 1024, depth: 64 };

/** What a server says about its own answers is not checked: they are words for a model, and a schema is a program. */
const TAKES_ALL: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

interface Held {
  made: Promise<Connection | undefined>;
  stop: AbortController;
  /** Runs that wait for it. */
  waiting: number;
}

export function createMcpPool(deps: McpDeps): McpPool {
  const connections = new Map<string, Held>();
  let closed = false;

  function connection(server: McpServer): Held {
    const key = JSON.stringify(server);
    const known = connections.get(key);
    if (known) return known;
    const stop = new AbortController();
    const forget = (): void => {
      if (connections.get(key) === held) connections.delete(key);
    };
    const renew = async (): Promise<Connection | undefined> => {
      forget();
      return closed ? undefined : connection(server).made;
    };
    // A server that does not start leaves the agent without its tools, not without its voice; the next run tries again.
    const made = connect(deps, server, { forget, renew, signal: stop.signal }).catch((err: unknown) => {
      if (!stop.signal.aborted) deps.log.warn({ err, server: server.name }, 'MCP server not available');
      forget();
      return undefined;
    });
    const held: Held = { made, stop, waiting: 0 };
    connections.set(key, held);
    return held;
  }

  /** Waits as long as the run does; the last one who gives up takes an unfinished connection with it. */
  async function toolsOf(server: McpServer, signal: AbortSignal | undefined): Promise<Tool[]> {
    const held = connection(server);
    let ready = false;
    held.waiting += 1;
    try {
      const made = await untilAborted(held.made, signal);
      ready = true;
      return made?.tools ?? [];
    } finally {
      held.waiting -= 1;
      if (!ready && held.waiting === 0) held.stop.abort(new Error('nobody waits for the server any more'));
    }
  }

  return {
    async tools(servers, signal) {
      if (closed) return [];
      return (await Promise.all(servers.map((server) => toolsOf(server, signal)))).flat();
    },
    async close() {
      closed = true;
      const all = [...connections.values()];
      connections.clear();
      for (const { stop } of all) stop.abort(new Error('the agent sleeps'));
      await Promise.all(all.map(async ({ made }) => (await made)?.close()));
    },
  };
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  signal?.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal?.reason as Error);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

interface Place {
  forget: () => void;
  /** A connection in place of this one. */
  renew: () => Promise<Connection | undefined>;
  /** Nobody wants the connection any more. */
  signal: AbortSignal;
}

async function connect(deps: McpDeps, server: McpServer, { forget, renew, signal }: Place): Promise<Connection> {
  // Loaded only where there is a server: the library costs more memory than an agent.
  const { Client: SdkClient } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new SdkClient({ name: 'troupe', version: '1.0.0' }, { jsonSchemaValidator: TAKES_ALL });
  const { release, goodbye } =
    server.command === undefined
      ? await connectHttp(deps, server, client, signal)
      : await connectStdio(deps, server, client, signal);
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
    const offered = (await listTools(client, server, { signal, log: deps.log })).map((one) => ({
      one,
      name: nameOf(server, one.name),
    }));
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
            return await inFiles(deps, server, () => callTool(client, one.name, args, context));
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

/** The server has forgotten the session, as after a restart, and has not looked at the call: a new one may make it. */
const isSessionGone = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 404;

/** A program may write to the workspace at any time; what it wrote is noticed when it is called. */
async function inFiles<T>({ workspace }: McpDeps, server: McpServer, call: () => Promise<T>): Promise<T> {
  if (server.command === undefined) return call();
  const files = await workspace();
  await files.ready();
  try {
    return await call();
  } finally {
    files.touched();
  }
}

interface Link {
  release?: () => void;
  goodbye?: () => Promise<void>;
}

async function connectStdio(
  { sandbox, workspace }: McpDeps,
  server: McpServer,
  client: Client,
  signal: AbortSignal,
): Promise<Link> {
  const reason = await sandbox.unavailable();
  if (reason !== undefined) throw new Error(`there is no sandbox to run the server in (${reason})`);
  const { createStdioTransport } = await import('../sandbox/stdio-transport.ts');
  const files = await workspace();
  await files.ready();
  const program = await sandbox.wrap({
    workspace: files.root,
    argv: [server.command ?? '', ...server.args],
    env: server.env,
  });
  const transport = createStdioTransport(program);
  await client.connect(transport, { timeout: START_MS, signal });
  const release = watchResources({
    ...program.watched,
    pid: transport.pid(),
    full: async () => (await files.room()).full,
    onExceeded: () => void transport.close(),
  });
  return { release };
}

async function connectHttp(
  { outbound, log }: McpDeps,
  server: McpServer,
  client: Client,
  signal: AbortSignal,
): Promise<Link> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const transport = new StreamableHTTPClientTransport(new URL(server.url ?? ''), {
    requestInit: { headers: server.headers },
    fetch: guardedFetch(outbound),
  });
  // The SDK's own class does not fit its interface under exact optional properties.
  await client.connect(transport as Parameters<Client['connect']>[0], { timeout: START_MS, signal });
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
  let streamAt = 0;
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const method = init.method ?? 'GET';
    if (method === 'GET') {
      const wait = Math.max(0, streamAt - Date.now());
      streamAt = Date.now() + wait + STREAM_EVERY_MS;
      await setTimeout(wait, undefined, { ref: false, ...(init.signal && { signal: init.signal }) });
    }
    const answer = await outbound.fetch(url, {
      method: method as 'GET' | 'POST' | 'DELETE',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' && { body: init.body }),
      ...(init.signal && { signal: init.signal }),
      timeout: STREAM_MS,
      maxBytes: MAX_ANSWER_BYTES,
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
  if (sizeOf(result, MAX_RESULT) === undefined) throw new Error('The server’s answer is too large.');
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
