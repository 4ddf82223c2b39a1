import { AppError } from '@troupe/kernel';
import { mcpServerSchema, toolsetNames, webAddress, type McpServer } from '@troupe/domain';
import { z } from 'zod';
import type { Pin } from '../programs/pin.ts';
import type { OwnersServer, UsedServer } from '../tools/mcp-shared.ts';
import { readJson, sendJson, type Exchange } from './exchange.ts';

/** The MCP servers that the agent uses: its own are attached, tried, connected and removed; its owner's are shown and tried. */

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

const MISSING = 'MCP server not found';
const OWNERS = 'This server belongs to all of your agents: change it there, or switch it off for this agent';

/** One that is used: the agent's own, or its owner's. */
async function found(exchange: Exchange): Promise<UsedServer> {
  const { agent, params } = exchange;
  const { definition } = await agent.definition();
  const used = await mcpOf(exchange).inherited.used(definition.mcpServers);
  const server = used.find(({ name }) => name === params[0]);
  if (!server) throw new AppError(404, MISSING);
  return server;
}

/** One that is the agent's own. */
async function ownOne(exchange: Exchange): Promise<McpServer> {
  const { agent, params } = exchange;
  const { definition } = await agent.definition();
  const server = definition.mcpServers.find(({ name }) => name === params[0]);
  if (server) return server;
  const inherited = (await agent.mcp?.inherited.all(definition.mcpServers)) ?? [];
  if (inherited.some(({ name }) => name === params[0])) throw new AppError(409, OWNERS);
  throw new AppError(404, MISSING);
}

const mcpOf = ({ agent }: Exchange) => {
  if (!agent.mcp) throw new AppError(501, 'This agent has no MCP servers');
  return agent.mcp;
};

/** Names of what is secret, never its values. */
const shown = ({ name, url, command, args, tools, headers, env, client }: McpServer) => ({
  name,
  ...(url !== undefined && { url }),
  ...(command !== undefined && { command }),
  args,
  ...(tools && { tools }),
  ...(client && { clientId: client.id }),
  headers: Object.keys(headers),
  env: Object.keys(env),
});

const shownPin = ({ name, version, integrity, packages, at }: Pin) => ({
  name,
  version,
  integrity,
  packages: packages.length,
  at,
});

export async function listServers(exchange: Exchange): Promise<void> {
  const { mcp } = exchange.agent;
  const { mcpServers: own } = (await exchange.agent.definition()).definition;
  mcp?.inherited.stale();
  const inherited: readonly OwnersServer[] = (await mcp?.inherited.all(own)) ?? [];
  const states = mcp?.states([...own, ...inherited]) ?? [];
  const servers = await Promise.all(
    [...own, ...inherited].map(async (server: UsedServer & { isOff?: boolean }) => {
      const { name } = server;
      const known = states.find((one) => one.name === name);
      const { name: _name, tools: offered, ...state } = known ?? { name, state: 'unused' as const };
      const pin = await mcp?.programs?.pinned(server);
      return {
        ...shown(server),
        ...state,
        ...(offered && { offered }),
        ...(server.shared !== undefined && { inherited: true, off: server.isOff === true }),
        ...(pin && { pin: shownPin(pin) }),
      };
    }),
  );
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
  const server = await ownOne(exchange);
  const { name } = server;
  const { definition } = await agent.definition();
  const mcpServers = definition.mcpServers.filter((one) => one.name !== name);
  await agent.store.saveDefinition({ ...definition, mcpServers });
  await agent.mcp?.forget(name);
  await agent.mcp?.oauth?.forget(name);
  await agent.mcp?.programs?.forget(server);
  sendJson(exchange, { success: true });
}

export async function testServer(exchange: Exchange): Promise<void> {
  mcpOf(exchange).inherited.stale();
  const server = await found(exchange);
  const { definition } = await exchange.agent.definition();
  const { allowedDomains } = definition.config.safety;
  const { tools: offered = [], ...state } = await mcpOf(exchange).test(server, {
    allowedDomains,
    signal: exchange.signal,
  });
  sendJson(exchange, { ...state, offered });
}

/** The newest version that the owner's words allow, in place of the one that it was pinned to. */
export async function updateServer(exchange: Exchange): Promise<void> {
  const { programs, forget } = mcpOf(exchange);
  const server = await found(exchange);
  if (!programs?.isPackage(server))
    throw new AppError(400, 'This server is no npm package: there is nothing to update');
  const pin = await programs.update(server, exchange.signal).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    throw new AppError(
      502,
      `The program was not updated: ${(error as Error).message.slice(0, 300)}`,
      {},
      { cause: error },
    );
  });
  await forget(server.name);
  sendJson(exchange, { pin: shownPin(pin) });
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
  const server = await ownOne(exchange);
  if (server.url === undefined) throw new AppError(400, 'A program asks nobody for access');
  const url = await oauthOf(exchange).begin(server, body, exchange.signal).catch(refuseConsent);
  sendJson(exchange, { url: url ?? null });
}

const finishSchema = z.object(
  { code: z.string().min(1).max(4000), state: z.string().min(1).max(500), iss: z.string().max(2000).optional() },
  'Invalid request body',
);

export async function finishConsent(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange, finishSchema);
  await oauthOf(exchange)
    .finish(await ownOne(exchange), body, exchange.signal)
    .catch(refuseConsent);
  sendJson(exchange, { success: true });
}

/** What the other side does wrong is told; it is no failure of ours. */
export function refuseConsent(error: unknown): never {
  if (error instanceof AppError) throw error;
  throw new AppError(
    502,
    `The server’s authorization failed: ${(error as Error).message.slice(0, 300)}`,
    {},
    { cause: error },
  );
}
