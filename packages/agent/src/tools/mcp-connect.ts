import type { Client, jsonSchemaValidator } from '@modelcontextprotocol/client';
import type { Outbound } from '@troupe/kernel';
import { afterPages, createAsking, openOrGoOn, type Asking, type OpenCall } from './mcp-asking.ts';
import { listTools, MAX_PAGES, stillAnswers } from './mcp-listing.ts';
import { connectHttp, type Link } from './mcp-http.ts';
import type { McpOAuth } from './mcp-oauth.ts';
import { connectProgram, type ProgramDeps } from './mcp-program.ts';
import { openServer, type Vault } from './mcp-secrets.ts';
import type { UsedServer } from './mcp-shared.ts';
import { callTool, isSessionGone, nameOf } from './mcp-words.ts';
import type { Tool, ToolResult } from './tool.ts';

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
  asking: Asking;
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
  given: UsedServer,
  { allowedDomains, forget, renew, signal }: Place,
): Promise<Connection> {
  const server = openServer(given, deps.vault);
  // Loaded only where there is a server: the library costs more memory than an agent.
  const { Client: SdkClient } = await import('@modelcontextprotocol/client');
  const asking = createAsking();
  const makeClient = (mode: 'auto' | 'legacy', timeoutMs?: number): Client => {
    const made = new SdkClient(
      { name: 'troupe', version: '1.0.0' },
      {
        capabilities: { elicitation: { form: {}, url: {} } },
        jsonSchemaValidator: TAKES_ALL,
        listMaxPages: MAX_PAGES,
        versionNegotiation: { mode, ...(timeoutMs !== undefined && { probe: { timeoutMs } }) },
      },
    );
    asking.listen(made);
    return made;
  };
  // Whoever gave a header of his own wants to be known by that.
  const isNamed = Object.keys(server.headers).some((name) => name.toLowerCase() === 'authorization');
  const authProvider = isNamed ? undefined : deps.oauth?.provider(server);
  const { client, link } =
    server.command === undefined
      ? await connectHttp(
          {
            ...deps,
            ...(authProvider && { authProvider, through: (fetch) => deps.oauth?.renewing(server, fetch) ?? fetch }),
          },
          server,
          makeClient,
          signal,
        )
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
    const { log, workspace } = deps;
    const tools = await toolsOf(client, server, { signal, log, renew, workspace, link, asking });
    return { client, asking, close, tools, answers: (asked) => stillAnswers(client, asked) };
  } catch (error) {
    await close();
    throw link.fault ?? error;
  }
}

/** A program may write to the workspace at any time; what it wrote is noticed when it is called. */
async function inFiles<T>(workspace: ConnectDeps['workspace'], server: UsedServer, call: () => Promise<T>): Promise<T> {
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
  asking: Asking;
}

async function toolsOf(client: Client, server: UsedServer, listing: Listing): Promise<Tool[]> {
  const { signal, log } = listing;
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
    ...(server.approval && { rule: server.approval }),
    description: (one.description ?? '').slice(0, 1000),
    parameters: one.inputSchema as Record<string, unknown>,
    // What a server says of itself is a hint; only reading without any effect is believed.
    repeatable: one.annotations?.readOnlyHint === true,
    run(args, context) {
      const call = calling(client, server, listing, (at, until) => callTool(at, one, args, { signal: until }));
      return openOrGoOn(context, {
        server: server.name,
        person: context.person,
        make: (open, until) => afterPages(open, () => call(open, until)),
      });
    },
  }));
}

/** One call; a session that the server has forgotten is made anew for it, once. */
const calling =
  (
    client: Client,
    server: UsedServer,
    { renew, workspace, link, asking }: Listing,
    call: (at: Client, signal: AbortSignal) => Promise<ToolResult>,
  ) =>
  async (open: OpenCall, signal: AbortSignal): Promise<ToolResult> => {
    try {
      return await asking.during(open, () => inFiles(workspace, server, () => call(client, signal)));
    } catch (error) {
      if (!isSessionGone(error)) throw link.fault ?? error;
      void client.close();
      const fresh = await renew();
      if (!fresh) throw error;
      return fresh.asking.during(open, () => call(fresh.client, signal));
    }
  };
