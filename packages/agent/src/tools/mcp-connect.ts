import type { Client, jsonSchemaValidator } from '@modelcontextprotocol/client';
import type { McpServer } from '@troupe/domain';
import type { Outbound } from '@troupe/kernel';
import { listTools, MAX_PAGES, stillAnswers } from './mcp-listing.ts';
import { connectHttp, type Link } from './mcp-http.ts';
import type { McpOAuth } from './mcp-oauth.ts';
import { connectProgram, type ProgramDeps } from './mcp-program.ts';
import { openServer, type Vault } from './mcp-secrets.ts';
import { callTool, isSessionGone, nameOf } from './mcp-words.ts';
import type { Tool } from './tool.ts';

/** One connection to an MCP server, a program or a service, and its tools. */

export interface ConnectDeps extends ProgramDeps {
  outbound: Outbound;
  /** What the owner's consent brought. */
  oauth?: McpOAuth | undefined;
  /** What secrets of servers are sealed with. */
  vault?: Vault | undefined;
}

export interface Connection {
  client: Client;
  tools: Tool[];
  /** Whether the server still lists its tools when it is asked. */
  answers: (signal: AbortSignal | undefined) => Promise<boolean>;
  close: () => Promise<void>;
}

/** What a server says about its own answers is not checked: they are words for a model, and a schema is a program. */
const TAKES_ALL: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

interface Place {
  allowedDomains: readonly string[];
  forget: () => void;
  /** A connection in place of this one. */
  renew: () => Promise<Connection | undefined>;
  /** Nobody wants the connection any more. */
  signal: AbortSignal;
}

export async function connect(
  deps: ConnectDeps,
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
    const tools = await toolsOf(client, server, { signal, log: deps.log, renew, workspace: deps.workspace, link });
    return { client, close, tools, answers: (asked) => stillAnswers(client, asked) };
  } catch (error) {
    await close();
    throw link.fault ?? error;
  }
}

/** A program may write to the workspace at any time; what it wrote is noticed when it is called. */
async function inFiles<T>(workspace: ConnectDeps['workspace'], server: McpServer, call: () => Promise<T>): Promise<T> {
  if (server.command === undefined) return call();
  const files = await workspace();
  await files.ready();
  try {
    return await call();
  } finally {
    files.touched();
  }
}

interface Listing extends Pick<Place, 'signal' | 'renew'>, Pick<ConnectDeps, 'log' | 'workspace'> {
  link: Link;
}

async function toolsOf(
  client: Client,
  server: McpServer,
  { signal, log, renew, workspace, link }: Listing,
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
    offeredAs: one.name,
    description: (one.description ?? '').slice(0, 1000),
    parameters: one.inputSchema as Record<string, unknown>,
    // What a server says of itself is a hint; only reading without any effect is believed.
    repeatable: one.annotations?.readOnlyHint === true,
    run: async (args, context) => {
      try {
        return await inFiles(workspace, server, () => callTool(client, one, args, context));
      } catch (error) {
        if (!isSessionGone(error)) throw link.fault ?? error;
        void client.close();
        const fresh = await renew();
        if (!fresh) throw error;
        return callTool(fresh.client, one, args, context);
      }
    },
  }));
}
