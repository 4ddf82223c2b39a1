import { createSandbox, createSqliteStore, createToolkit } from '@troupe/agent';
import { newDefinition } from '@troupe/domain';
import { createOutbound, createWorkerPool, newId, silentLog } from '@troupe/kernel';

/**
 * An agent's way to its MCP servers, for the conformance suite: the address of a server is the last argument. What the
 * owner does in the browser is done by following the redirect.
 */

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
/** Calls that the scenario wants; every tool once unless said. */
const { toolCalls } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};
const kept = new Map<string, string>();
const outbound = createOutbound({ allowLoopback: true });
const pool = createWorkerPool();
const toolkit = createToolkit({
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

const definition = newDefinition({ name: 'A', tools: [], mcpServers: [{ name: 'judge', url }] });
const server = definition.mcpServers[0]!;
const use = { allowedDomains: [] };
const oauth = toolkit.mcp.oauth!;

/** The owner agrees. */
async function consent(): Promise<void> {
  const asked = await oauth.begin(server, {
    redirectUri: 'http://localhost:3000/callback',
    clientUri: 'https://conformance-test.local/client-metadata.json',
    state: `state-${newId()}`,
  });
  if (asked === undefined) return;
  const answer = await fetch(asked, { redirect: 'manual' });
  const back = new URL(answer.headers.get('location') ?? '', asked);
  await oauth.finish(server, {
    code: back.searchParams.get('code') ?? '',
    state: back.searchParams.get('state') ?? '',
    iss: back.searchParams.get('iss') ?? undefined,
  });
}

const SAMPLES: Record<string, unknown> = { string: 'x', number: 1, integer: 1, boolean: true, array: [], object: {} };

function argumentsFor({ properties = {} }: { properties?: Record<string, { type?: string; default?: unknown }> }) {
  const entries = Object.entries(properties).map(([name, { type = 'string', default: given }]) => [
    name,
    given ?? (name === 'a' || name === 'b' ? 5 : SAMPLES[type]),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

const MOST_CONSENTS = 3;
let state = await toolkit.mcp.test(server, use);
for (let asked = 0; state.state === 'consent' && asked < MOST_CONSENTS; asked += 1) {
  await consent();
  state = await toolkit.mcp.test(server, use);
}
if (state.state !== 'connected') throw new Error(`${scenario}: ${state.error}`);
const tools = await toolkit.tools(definition);
const calls = toolCalls
  ? toolCalls.map(({ name, arguments: args }) => ({ tool: tools.find((one) => one.name === `judge_${name}`), args }))
  : tools.map((tool) => ({ tool, args: argumentsFor(tool.parameters as never) }));
for (const { tool, args } of calls) {
  if (!tool) continue;
  const context = { signal: AbortSignal.timeout(20_000) } as Parameters<typeof tool.run>[1];
  const run = () => tool.run(args, context);
  // More is needed than was given: the owner is asked again.
  await run().catch(async (error: Error) => {
    if (error.name !== 'UnauthorizedError') return console.error(tool.name, error.message);
    await consent();
    await run().catch((again: Error) => console.error(tool.name, again.message));
  });
}
await toolkit.close();
await outbound.close();
await pool.close();
