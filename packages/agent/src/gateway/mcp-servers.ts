import { AppError } from '@troupe/kernel';
import { mcpServerSchema, toolsetNames, webAddress, type McpServer } from '@troupe/domain';
import { z } from 'zod';
import { readJson, sendJson, type Exchange } from './exchange.ts';

/** The MCP servers that the agent uses: attached, tried, connected and removed by its owner. */

const MOST = 20;

const attached = mcpServerSchema
  .omit({ name: true })
  .refine(({ url, command }) => (url === undefined) !== (command === undefined), 'Give either url or command')
  .refine(({ url, client }) => url !== undefined || client === undefined, 'A program asks nobody for access')
  .refine(({ args }) => args.length <= 100 && args.join('').length <= 20_000, 'Too many arguments');

const named = (params: readonly string[]): string => {
  const name = params[0] ?? '';
  if (!/^[A-Za-z0-9_-]{1,40}$/.test(name)) throw new AppError(400, 'A server is named by letters, digits, - and _');
  // What the owner lets these do would count for the server's tools, too.
  if ((toolsetNames as readonly string[]).includes(name))
    throw new AppError(400, `The agent’s own tools are named ${name}: choose another name`);
  return name;
};

async function found({ agent, params }: Exchange): Promise<McpServer> {
  const { definition } = await agent.definition();
  const server = definition.mcpServers.find(({ name }) => name === params[0]);
  if (!server) throw new AppError(404, 'MCP server not found');
  return server;
}

const mcpOf = ({ agent }: Exchange) => {
  if (!agent.mcp) throw new AppError(501, 'This agent has no MCP servers');
  return agent.mcp;
};

/** Names of what is secret, never its values. */
const shown = ({ headers, env, client, ...server }: McpServer) => ({
  ...server,
  ...(client && { clientId: client.id }),
  headers: Object.keys(headers),
  env: Object.keys(env),
});

export async function listServers(exchange: Exchange): Promise<void> {
  const { definition } = await exchange.agent.definition();
  const { mcpServers } = definition;
  const states = exchange.agent.mcp?.states(mcpServers) ?? [];
  const servers = mcpServers.map((server) => {
    const {
      name: _name,
      tools: offered,
      ...state
    } = states.find(({ name }) => name === server.name) ?? {
      name: server.name,
      state: 'unused' as const,
    };
    return { ...shown(server), ...state, ...(offered && { offered }) };
  });
  sendJson(exchange, { servers, count: servers.length });
}

export async function attachServer(exchange: Exchange): Promise<void> {
  const { agent, params } = exchange;
  const name = named(params);
  const server = mcpOf(exchange).sealed({ name, ...(await readJson(exchange, attached)) });
  const { definition } = await agent.definition();
  const others = definition.mcpServers.filter((one) => one.name !== name);
  if (others.length >= MOST) throw new AppError(400, `An agent has ${MOST} MCP servers at most`);
  await agent.store.saveDefinition({ ...definition, mcpServers: [...others, server] });
  await agent.mcp?.forget(name);
  sendJson(exchange, { server: shown(server) });
}

export async function detachServer(exchange: Exchange): Promise<void> {
  const { agent } = exchange;
  const { name } = await found(exchange);
  const { definition } = await agent.definition();
  const mcpServers = definition.mcpServers.filter((one) => one.name !== name);
  await agent.store.saveDefinition({ ...definition, mcpServers });
  await agent.mcp?.forget(name);
  await agent.mcp?.oauth?.forget(name);
  sendJson(exchange, { success: true });
}

export async function testServer(exchange: Exchange): Promise<void> {
  const server = await found(exchange);
  const { definition } = await exchange.agent.definition();
  const { allowedDomains } = definition.config.safety;
  const { tools: offered = [], ...state } = await mcpOf(exchange).test(server, {
    allowedDomains,
    signal: exchange.signal,
  });
  sendJson(exchange, { ...state, offered });
}

const beginSchema = z.object(
  { redirectUri: webAddress, clientUri: webAddress.optional(), state: z.string().min(16).max(500) },
  'Invalid request body',
);

const oauthOf = (exchange: Exchange) => {
  const { oauth } = mcpOf(exchange);
  if (!oauth) throw new AppError(501, 'An agent that runs elsewhere cannot be connected: give it a header instead');
  return oauth;
};

/** Where the owner agrees; null: access is there already. */
export async function beginConsent(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange, beginSchema);
  const server = await found(exchange);
  if (server.url === undefined) throw new AppError(400, 'A program asks nobody for access');
  const url = await oauthOf(exchange).begin(server, body, exchange.signal).catch(refuse);
  sendJson(exchange, { url: url ?? null });
}

const finishSchema = z.object(
  { code: z.string().min(1).max(4000), state: z.string().min(1).max(500), iss: z.string().max(2000).optional() },
  'Invalid request body',
);

export async function finishConsent(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange, finishSchema);
  await oauthOf(exchange)
    .finish(await found(exchange), body, exchange.signal)
    .catch(refuse);
  sendJson(exchange, { success: true });
}

/** What the other side does wrong is told; it is no failure of ours. */
function refuse(error: unknown): never {
  if (error instanceof AppError) throw error;
  throw new AppError(
    502,
    `The server’s authorization failed: ${(error as Error).message.slice(0, 300)}`,
    {},
    { cause: error },
  );
}
