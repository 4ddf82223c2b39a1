import { createHeld, createSandbox, createSqliteStore, createToolkit, type Toolkit } from '@troupe/agent';
import { newDefinition } from '@troupe/domain';
import { createOutbound, newId, silentLog, type WorkerPool } from '@troupe/kernel';

/**
 * An agent's way to its MCP servers, for the conformance suite. What the owner does in the browser is done by following
 * the redirect.
 */

export interface Wanted {
  /** The address of the suite's server. */
  url: string;
  scenario: string;
  /** What the owner is said to have registered by hand. */
  client?: { id: string; secret?: string };
  /** Calls that the scenario wants; every tool once unless said. */
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
}

type Server = ReturnType<typeof newDefinition>['mcpServers'][number];
type Tool = Awaited<ReturnType<Toolkit['tools']>>[number];

const USE = { allowedDomains: [] };
const MOST_CONSENTS = 3;
const SAMPLES: Record<string, unknown> = { string: 'x', number: 1, integer: 1, boolean: true, array: [], object: {} };

function newToolkit(outbound: ReturnType<typeof createOutbound>, pool: WorkerPool): Toolkit {
  const kept = new Map<string, string>();
  return createToolkit({
    store: createSqliteStore({ file: ':memory:', agentId: 'a' }),
    workspaceRoot: '/nowhere',
    sandbox: createSandbox({ bwrap: '/nowhere' }),
    outbound,
    log: silentLog,
    pool,
    owner: 'owner',
    credentials: {
      load: async (server) => kept.get(server),
      save: async (server, text) => void (text === undefined ? kept.delete(server) : kept.set(server, text)),
    },
  });
}

/** The owner agrees. */
async function consent({ mcp }: Toolkit, server: Server): Promise<void> {
  const asked = await mcp.oauth!.begin(server, {
    redirectUri: 'http://localhost:3000/callback',
    clientUri: 'https://conformance-test.local/client-metadata.json',
    state: `state-${newId()}`,
  });
  if (asked === undefined) return;
  const answer = await fetch(asked, { redirect: 'manual' });
  const back = new URL(answer.headers.get('location') ?? '', asked);
  await mcp.oauth!.finish(server, {
    code: back.searchParams.get('code') ?? '',
    state: back.searchParams.get('state') ?? '',
    iss: back.searchParams.get('iss') ?? undefined,
  });
}

function argumentsFor({ parameters }: Tool): Record<string, unknown> {
  const { properties = {} } = parameters as { properties?: Record<string, { type?: string; default?: unknown }> };
  const entries = Object.entries(properties).map(([name, { type = 'string', default: given }]) => [
    name,
    given ?? (name === 'a' || name === 'b' ? 5 : SAMPLES[type]),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

async function connect(toolkit: Toolkit, server: Server): Promise<void> {
  let state = await toolkit.mcp.test(server, USE);
  for (let asked = 0; state.state === 'consent' && asked < MOST_CONSENTS; asked += 1) {
    await consent(toolkit, server);
    state = await toolkit.mcp.test(server, USE);
  }
  if (state.state !== 'connected') throw new Error(state.error);
}

/** A call as the loop makes it; whatever the server wants to know, the owner agrees to what it proposes. */
async function answered(tool: Tool, args: unknown): Promise<void> {
  const context = { signal: AbortSignal.timeout(20_000), callId: newId(), held: createHeld(), person: {} };
  type Context = Parameters<Tool['run']>[1];
  let { asks: question } = await tool.run(args, context as unknown as Context);
  while (question) {
    const answer = question.options?.[0] ?? 'x';
    const person = { said: { question, approved: true, answer } };
    ({ asks: question } = await tool.run(args, { ...context, person } as unknown as Context));
  }
}

/** Does what the scenario asks of a client, and returns what went wrong on the way. */
export async function useServer({ url, client, toolCalls }: Wanted, pool: WorkerPool): Promise<string[]> {
  const outbound = createOutbound({ allowLoopback: true });
  const toolkit = newToolkit(outbound, pool);
  const definition = newDefinition({ name: 'A', tools: [], mcpServers: [{ name: 'judge', url, client }] });
  const server = definition.mcpServers[0]!;
  const said: string[] = [];
  try {
    await connect(toolkit, server);
    const tools = await toolkit.tools(definition);
    const calls = toolCalls
      ? toolCalls.map(({ name, arguments: args }) => ({
          tool: tools.find((one) => one.name === `judge_${name}`),
          args,
        }))
      : tools.map((tool) => ({ tool, args: argumentsFor(tool) }));
    for (const { tool, args } of calls) {
      if (!tool) continue;
      const run = () => answered(tool, args);
      // More is needed than was given: the owner is asked again.
      await run()
        .catch(async (error: Error) => {
          if (error.name !== 'UnauthorizedError') throw error;
          await consent(toolkit, server);
          return run();
        })
        .catch((error: Error) => said.push(`${tool.name}: ${error.message}`));
    }
    return said;
  } finally {
    await toolkit.close();
    await outbound.close();
  }
}
