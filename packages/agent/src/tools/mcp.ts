import type { Client, jsonSchemaValidator } from '@modelcontextprotocol/client';
import type { McpServer } from '@troupe/domain';
import type { Log, Outbound } from '@troupe/kernel';
import { listTools, MAX_PAGES } from './mcp-listing.ts';
import { connectHttp } from './mcp-http.ts';
import type { McpOAuth } from './mcp-oauth.ts';
import { connectProgram, type ProgramDeps } from './mcp-program.ts';
import { openServer, type Vault } from './mcp-secrets.ts';
import { callTool, nameOf, reasonOf, isSessionGone } from './mcp-words.ts';
import { failed, type Tool } from './tool.ts';

/**
 * Tools of MCP servers: programs that run in the sandbox, or services that are reached through the guarded client. A
 * server is started when its tools are first needed and kept until the agent sleeps. One that cannot be used says why:
 * to its owner, and to the model, which is offered a tool that tries again in place of the server's own.
 */

export interface McpPool {
  /** Given up by everybody who asked, servers are not listened to any further. */
  tools: (servers: readonly McpServer[], how: McpUse) => Promise<Tool[]>;
  /** How each of them is, as far as it was tried. */
  states: (servers: readonly McpServer[]) => McpState[];
  /** Tries one now, whatever came of it before. */
  test: (server: McpServer, how: McpUse) => Promise<McpState>;
  close: () => Promise<void>;
}

interface McpUse {
  allowedDomains: readonly string[];
  signal?: AbortSignal | undefined;
}

interface McpState {
  name: string;
  state: 'unused' | 'connected' | 'failed' | 'consent';
  /** Why it cannot be used. */
  error?: string;
  tools?: string[];
  at?: string;
}

export interface McpDeps extends ProgramDeps {
  outbound: Outbound;
  /** Told when a server that worked, or was not tried, cannot be used. */
  onFailure?: (server: string, why: string) => void;
  /** What the owner's consent brought. */
  oauth?: McpOAuth | undefined;
  /** What secrets of servers are sealed with. */
  vault?: Vault | undefined;
}

interface Connection {
  client: Client;
  tools: Tool[];
  close: () => Promise<void>;
}

/** A server that failed is not tried again before this, unless somebody asks for it. */
const REST_MS = 30_000;

/** What a server says about its own answers is not checked: they are words for a model, and a schema is a program. */
const TAKES_ALL: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

interface Held {
  made: Promise<Connection | undefined>;
  stop: AbortController;
  /** Runs that wait for it. */
  waiting: number;
  /** Not to be tried again before. */
  restsUntil: number;
}

export function createMcpPool(deps: McpDeps): McpPool {
  const connections = new Map<string, Held>();
  const states = new Map<string, McpState>();
  let closed = false;

  const keyOf = (server: McpServer, { allowedDomains }: McpUse): string =>
    JSON.stringify([server, server.command === undefined ? [] : allowedDomains]);

  function told(server: McpServer, state: Omit<McpState, 'name' | 'at'>): void {
    const before = states.get(server.name);
    states.set(server.name, { name: server.name, ...state, at: new Date().toISOString() });
    if (state.error !== undefined && before?.error !== state.error) deps.onFailure?.(server.name, state.error);
  }

  function connection(server: McpServer, use: McpUse): Held {
    const key = keyOf(server, use);
    const known = connections.get(key);
    if (known && (known.restsUntil === 0 || known.restsUntil > Date.now())) return known;
    const stop = new AbortController();
    const forget = (): void => {
      if (connections.get(key) === held) connections.delete(key);
    };
    const renew = async (): Promise<Connection | undefined> => {
      forget();
      return closed ? undefined : connection(server, use).made;
    };
    const made = connect(deps, server, { allowedDomains: use.allowedDomains, forget, renew, signal: stop.signal }).then(
      (connected) => {
        told(server, { state: 'connected', tools: connected.tools.map(({ name }) => name) });
        return connected;
      },
      (error: unknown) => {
        // A server that does not start leaves the agent without its tools, not without its voice.
        if (stop.signal.aborted) forget();
        else {
          held.restsUntil = Date.now() + REST_MS;
          deps.log.warn({ err: error, server: server.name }, 'MCP server not available');
          told(server, reasonOf(error));
        }
        return undefined;
      },
    );
    const held: Held = { made, stop, waiting: 0, restsUntil: 0 };
    connections.set(key, held);
    return held;
  }

  /** Waits as long as the run does; the last one who gives up takes an unfinished connection with it. */
  async function connected(server: McpServer, use: McpUse): Promise<Connection | undefined> {
    const held = connection(server, use);
    let ready = false;
    held.waiting += 1;
    try {
      const made = await untilAborted(held.made, use.signal);
      ready = true;
      return made;
    } finally {
      held.waiting -= 1;
      if (!ready && held.waiting === 0) held.stop.abort(new Error('nobody waits for the server any more'));
    }
  }

  async function offeredBy(server: McpServer, use: McpUse): Promise<Tool[]> {
    const found = await connected(server, use);
    return found?.tools ?? [unavailable(server, use)];
  }

  /** In place of the tools that are missing. */
  function unavailable(server: McpServer, use: McpUse): Tool {
    const why = (): string => states.get(server.name)?.error ?? 'it does not answer';
    return {
      name: nameOf(server, 'unavailable'),
      toolset: server.name,
      description: `The tools of ${server.name} are missing: ${why()}. Call this to try again.`.slice(0, 1000),
      parameters: { type: 'object', properties: {} },
      repeatable: true,
      async run(_args, { signal }) {
        const state = await test(server, { ...use, signal });
        if (state.state !== 'connected') return failed(`${server.name} cannot be used: ${why()}.`);
        return { content: `${server.name} is back; its tools are offered from the next message on.` };
      },
    };
  }

  async function test(server: McpServer, use: McpUse): Promise<McpState> {
    const held = connections.get(keyOf(server, use));
    // One that failed is tried anew; one that stands is asked whether it really does.
    if (held && held.restsUntil > 0) connections.delete(keyOf(server, use));
    await connected(server, use);
    return states.get(server.name) ?? { name: server.name, state: 'unused' };
  }

  return {
    async tools(servers, use) {
      if (closed) return [];
      return (await Promise.all(servers.map((server) => offeredBy(server, use)))).flat();
    },
    states: (servers) => servers.map(({ name }) => states.get(name) ?? { name, state: 'unused' }),
    test,
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
  allowedDomains: readonly string[];
  forget: () => void;
  /** A connection in place of this one. */
  renew: () => Promise<Connection | undefined>;
  /** Nobody wants the connection any more. */
  signal: AbortSignal;
}

async function connect(
  deps: McpDeps,
  given: McpServer,
  { allowedDomains, forget, renew, signal }: Place,
): Promise<Connection> {
  const server = openServer(given, deps.vault);
  // Loaded only where there is a server: the library costs more memory than an agent.
  const { Client: SdkClient } = await import('@modelcontextprotocol/client');
  const makeClient = (mode: 'auto' | 'legacy', timeoutMs?: number): Client =>
    new SdkClient(
      { name: 'troupe', version: '1.0.0' },
      {
        jsonSchemaValidator: TAKES_ALL,
        listMaxPages: MAX_PAGES,
        versionNegotiation: { mode, ...(timeoutMs !== undefined && { probe: { timeoutMs } }) },
      },
    );
  // Whoever gave a header of his own wants to be known by that.
  const isNamed = Object.keys(server.headers).some((name) => name.toLowerCase() === 'authorization');
  const authProvider = isNamed ? undefined : deps.oauth?.provider(server);
  const { client, link } =
    server.command === undefined
      ? await connectHttp({ ...deps, ...(authProvider && { authProvider }) }, server, makeClient, signal)
      : await connectProgram(deps, server, { makeClient, allowedDomains, signal });
  client.onclose = () => {
    link.release?.();
    forget();
  };
  const close = async (): Promise<void> => {
    link.release?.();
    await link.goodbye?.();
    await client.close();
  };
  try {
    return { client, close, tools: await toolsOf(client, server, { signal, log: deps.log, renew }) };
  } catch (error) {
    await close();
    throw error;
  }
}

async function toolsOf(
  client: Client,
  server: McpServer,
  { signal, log, renew }: Pick<Place, 'signal' | 'renew'> & { log: Log },
): Promise<Tool[]> {
  const offered = (await listTools(client, server, { signal, log })).map((one) => ({
    one,
    name: nameOf(server, one.name),
  }));
  // Models know a tool by its name alone.
  const unlike = offered.filter(({ name }, index) => offered.findIndex((other) => other.name === name) === index);
  return unlike.map(({ one, name }) => ({
    name,
    toolset: server.name,
    description: (one.description ?? '').slice(0, 1000),
    parameters: one.inputSchema as Record<string, unknown>,
    // What a server says of itself is a hint; only reading without any effect is believed.
    repeatable: one.annotations?.readOnlyHint === true,
    run: async (args, context) => {
      try {
        return await callTool(client, one, args, context);
      } catch (error) {
        if (!isSessionGone(error)) throw error;
        void client.close();
        const fresh = await renew();
        if (!fresh) throw error;
        return callTool(fresh.client, one, args, context);
      }
    },
  }));
}
