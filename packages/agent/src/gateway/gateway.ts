import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AGENT_NOT_FOUND, TASK_NOT_FOUND, shapedError, shapeFor, type ErrorShape } from '@troupe/contract';
import {
  answerable,
  AppError,
  checkOneHost,
  createFairQueue,
  createLargeBodies,
  requestUrl,
  type FairQueue,
  type LargeBodies,
  type Log,
} from '@troupe/kernel';
import { WebSocketServer } from 'ws';
import type { Agent, Kept } from '../agent.ts';
import { a2a } from './a2a.ts';
import { agentCard } from './a2a-wire.ts';
import { agUi } from './ag-ui.ts';
import * as background from './background.ts';
import { createConnections } from './connections.ts';
import * as conversations from './conversations.ts';
import { READING, sendJson, type Exchange } from './exchange.ts';
import { createMcpDoor } from './mcp.ts';
import * as servers from './mcp-servers.ts';
import * as models from './model-list.ts';
import { speakChat, speakMessages, speakResponses } from './models.ts';
import * as files from './files.ts';
import * as records from './records.ts';
import type { Gateway, GatewayDeps, GatewayPrincipal, GatewayTarget, Showing } from './types.ts';
import { Readers, SOCKET_BOUNDS } from './socket-bounds.ts';
import { serveWebChat } from './web-chat.ts';
import { requireRight, type Right } from './rights.ts';
import { cancelTask, changeConfig, execute, readConfig, receiveBusMessage } from './work.ts';

type Way<A extends Kept> = readonly [
  method: string,
  path: RegExp,
  right: Right,
  handler: (exchange: Exchange<A>) => Promise<void>,
];

/** What only reads, and needs nothing that runs: also of an agent that is stopped. */
const READS: readonly Way<Kept>[] = [
  ['GET', /^\/sessions$/, 'talk', conversations.listSessions],
  ['GET', /^\/sessions\/([^/]+)$/, 'talk', conversations.readSessionEvents],
  ['GET', /^\/sessions\/([^/]+)\/branches$/, 'talk', conversations.listBranches],
  ['GET', /^\/search$/, 'talk', conversations.searchMessages],
  ['GET', /^\/approvals$/, 'look', conversations.listApprovals],
  ['GET', /^\/approvals\/asked$/, 'look', conversations.listAsked],
  ['GET', /^\/background$/, 'look', background.listTasks],
  ['GET', /^\/background\/([^/]+)$/, 'look', background.readTask],
  ['GET', /^\/logs$/, 'look', records.readLogs],
  ['GET', /^\/messages$/, 'look', records.readMessages],
  ['GET', /^\/stats$/, 'look', records.readStats],
  ['GET', /^\/memory$/, 'look', records.readMemory],
  ['GET', /^\/memory\/care$/, 'look', records.readMemoryCare],
  ['GET', /^\/files$/, 'look', files.listFiles],
  ['GET', /^\/files\/content$/, 'look', files.readFile],
  ['GET', /^\/files\/preview$/, 'look', files.previewFile],
  ['GET', /^\/files\/zip$/, 'look', files.packFolder],
  ['GET', /^\/config$/, 'look', readConfig],
  ['GET', /^\/definition$/, 'look', records.readDefinition],
];

/** Every way into an agent, behind its token, and what one must be allowed to take it. */
export const ROUTES: readonly Way<Agent>[] = [
  ...READS,
  ['POST', /^\/v1\/chat\/completions$/, 'speak', speakChat],
  ['POST', /^\/v1\/messages$/, 'speak', speakMessages],
  ['POST', /^\/v1\/responses$/, 'speak', speakResponses],
  ['POST', /^\/v1\/messages\/count_tokens$/, 'speak', models.countTokens],
  ['POST', /^\/v1\/embeddings$/, 'speak', models.refuseEmbeddings],
  ['GET', /^\/v1\/models$/, 'speak', models.listModels],
  ['GET', /^\/v1\/models\/([^/]+)$/, 'speak', models.getModel],
  ['GET', /^\/v1\/models\/([^/]+)\/([^/]+)$/, 'speak', models.getModel],
  ['POST', /^\/mcp$/, 'speak', (exchange) => exchange.mcp.answer(exchange)],
  ['GET', /^\/mcp$/, 'speak', (exchange) => exchange.mcp.answer(exchange)],
  ['DELETE', /^\/mcp$/, 'speak', (exchange) => exchange.mcp.answer(exchange)],
  ['POST', /^\/ag-ui$/, 'speak', agUi],
  ['POST', /^\/a2a$/, 'speak', a2a],
  ['GET', /^\/sessions\/([^/]+)\/events$/, 'talk', conversations.streamSessionEvents],
  ['POST', /^\/sessions\/([^/]+)\/cancel$/, 'talk', conversations.cancelSession],
  ['PATCH', /^\/sessions\/([^/]+)$/, 'talk', conversations.describeSession],
  ['DELETE', /^\/sessions\/([^/]+)$/, 'talk', conversations.removeSession],
  ['POST', /^\/sessions\/([^/]+)\/branches$/, 'talk', conversations.branch],
  ['POST', /^\/messages$/, 'talk', conversations.say],
  ['POST', /^\/notes$/, 'change', conversations.note],
  ['POST', /^\/execute$/, 'work', execute],
  ['POST', /^\/tasks\/cancel$/, 'work', cancelTask],
  ['POST', /^\/approvals\/([^/]+)$/, 'decide', conversations.decideApproval],
  ['POST', /^\/background\/([^/]+)\/stop$/, 'change', background.stopTask],
  ['GET', /^\/files\/find$/, 'look', files.findFiles],
  ['PUT', /^\/files\/content$/, 'change', files.putFile],
  ['DELETE', /^\/files$/, 'change', files.removeFile],
  ['GET', /^\/mcp-servers$/, 'look', servers.listServers],
  ['PUT', /^\/mcp-servers\/([^/]+)$/, 'change', servers.attachServer],
  ['DELETE', /^\/mcp-servers\/([^/]+)$/, 'change', servers.detachServer],
  ['POST', /^\/mcp-servers\/([^/]+)\/test$/, 'change', servers.testServer],
  ['POST', /^\/mcp-servers\/([^/]+)\/update$/, 'change', servers.updateServer],
  ['POST', /^\/mcp-servers\/([^/]+)\/consent$/, 'change', servers.beginConsent],
  ['POST', /^\/mcp-servers\/([^/]+)\/consented$/, 'change', servers.finishConsent],
  ['PUT', /^\/memory$/, 'change', records.writeMemory],
  ['DELETE', /^\/memory\/([^/]+)$/, 'change', records.forgetMemory],
  ['POST', /^\/memory\/facts\/([^/]+)$/, 'change', records.decideFact],
  ['PUT', /^\/config$/, 'change', changeConfig],
  ['PUT', /^\/definition$/, 'change', records.changeDefinition],
  ['POST', /^\/reset$/, 'change', records.resetMemory],
  ['POST', /^\/heartbeat$/, 'change', records.heartbeat],
  ['POST', /^\/bus$/, 'change', receiveBusMessage],
];

/** The same to be told: `:id` stands for what the expression catches. */
export const GATEWAY_ROUTES: readonly { method: string; path: string }[] = ROUTES.map(([method, { source }]) => ({
  method,
  path: source.replaceAll(/^\^|\$$|\\/g, '').replaceAll('([^/]+)', ':id'),
}));

/** With it the platform tells an agent that lives elsewhere for whom it asks. */
export const CALLER_HEADER = 'x-gateway-caller';

interface Known {
  token: string;
  showing: Showing;
  principal: GatewayPrincipal;
}

const CARD_PATH = '/.well-known/agent-card.json';
/** Where a reader that cannot set headers may show its token in the address. */
const QUERY_TOKEN_PATH = /^\/(ws|sessions\/[^/]+\/events)$/;

/** What is said where there is nothing by that id. */
const NOBODYS: Readonly<Record<string, string>> = {
  sessions: 'Session not found',
  approvals: 'Approval not found',
  memory: 'Memory not found',
  background: TASK_NOT_FOUND,
  'mcp-servers': 'MCP server not found',
};

/** One for all: an error is made for every abort without a reason. */
const LEFT = new Error('the client is gone');

function fail(
  log: Log,
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  target: GatewayTarget,
): void {
  const known = knownError(error);
  if (known.status === 500) log.error({ err: error, agentId: target.agentId }, 'gateway request failed');
  if (response.headersSent) return void response.destroy();
  // What is left of the body would be taken for the next request.
  if (known.status === 413) response.setHeader('connection', 'close');
  for (const [name, value] of Object.entries(known.headers)) response.setHeader(name, value);
  const shape = shapeOf(request, target);
  // Clients of these protocols try a 429 again by themselves: no money is not a matter of waiting a little.
  if (shape && known.code === 'QUOTA_EXCEEDED') response.setHeader('x-should-retry', 'false');
  sendJson({ response }, shape ? shapedError(shape, known.status, known.body) : known.body, known.status);
}

async function found<A extends Kept>(
  find: (agentId: string) => Promise<A | undefined>,
  { agentId }: GatewayTarget,
): Promise<A> {
  const agent = await find(agentId);
  if (!agent) throw new AppError(404, AGENT_NOT_FOUND);
  return agent;
}

async function authenticate(
  { verify }: GatewayDeps,
  request: IncomingMessage,
  url: URL,
  agentId: string,
  how: Pick<Showing, 'socket' | 'asModel' | 'asClient'>,
): Promise<Known> {
  const token = shownToken(request, url);
  const caller = request.headers[CALLER_HEADER];
  const showing = { ...how, ...(typeof caller === 'string' && { caller }) };
  const principal = token === undefined ? undefined : await verify(agentId, token, showing);
  if (token === undefined || !principal) throw new AppError(401, 'Unauthorized');
  return { token, showing, principal };
}

/** The connections that stay open. */
function createSockets(deps: GatewayDeps, connections: ReturnType<typeof createConnections>) {
  const { log } = deps;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: SOCKET_BOUNDS.frameBytes,
    maxFragments: SOCKET_BOUNDS.fragments,
    maxBufferedChunks: SOCKET_BOUNDS.chunks,
  });
  const readers = new Readers();
  /** WebSockets of each agent. */
  const open = new Map<string, number>();
  function left(agentId: string): void {
    const still = (open.get(agentId) ?? 1) - 1;
    if (still > 0) open.set(agentId, still);
    else open.delete(agentId);
  }

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, target: GatewayTarget): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      checkOneHost(request.rawHeaders);
      const url = requestUrl(target.path);
      if (url.pathname !== '/ws') throw new AppError(404, 'Not found');
      const { owner } = await found(deps.agent, target);
      const { token, showing, principal } = await authenticate(deps, request, url, target.agentId, { socket: true });
      if ((open.get(target.agentId) ?? 0) >= SOCKET_BOUNDS.perAgent)
        throw new AppError(429, `An agent has ${SOCKET_BOUNDS.perAgent} open connections at most`);
      open.set(target.agentId, (open.get(target.agentId) ?? 0) + 1);
      socket.once('close', () => left(target.agentId));
      sockets.handleUpgrade(request, socket, head, (client) => {
        const cut = (): void => client.close(4401, 'token no longer valid');
        const closed = connections.open({ agentId: target.agentId, token, showing, principalId: principal.id, cut });
        client.once('close', closed);
        readers.add(owner, client);
        serveWebChat(client, {
          wake: () => found(deps.agent, target),
          principal,
          log,
          bound: () => readers.bound(owner),
        });
      });
    } catch (error) {
      const known = answerable(error) ?? new AppError(500, 'Internal server error');
      if (known.status === 500) log.error({ err: error, agentId: target.agentId }, 'gateway upgrade failed');
      const body = JSON.stringify(known.body);
      socket.end(
        `HTTP/1.1 ${known.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
        () => socket.destroy(),
      );
    }
  }

  return { upgrade, close: () => new Promise<void>((resolve) => sockets.close(() => resolve())) };
}

interface Door {
  deps: GatewayDeps;
  connections: ReturnType<typeof createConnections>;
  mcp: ReturnType<typeof createMcpDoor>;
  reading: FairQueue;
  large: LargeBodies;
}

/** What a route does, cut off when the token that opened it is no longer valid. */
async function serve<A extends Kept>(
  { deps, connections, mcp, reading, large }: Door,
  [, path, , handler]: Way<A>,
  exchange: Omit<Exchange<A>, 'params' | 'deps' | 'mcp' | 'reading' | 'large' | 'signal'>,
  url: URL,
  { token, showing }: Known,
): Promise<void> {
  const { response, target, principal } = exchange;
  const gone = new AbortController();
  const cut = (): void => {
    gone.abort();
    response.destroy();
  };
  const closed = connections.open({ agentId: target.agentId, token, showing, principalId: principal.id, cut });
  response.once('close', () => {
    gone.abort(LEFT);
    closed();
  });
  const params = (path.exec(url.pathname) ?? []).slice(1);
  // Ids are plain, but those of models; anything else is nobody's.
  const isPlain = isModelPath(url.pathname) ? /^[\w:.@%+-]{1,300}$/ : /^[\w:.-]{1,200}$/;
  if (params.some((id) => !isPlain.test(id)))
    throw new AppError(404, NOBODYS[url.pathname.split('/', 2)[1] ?? ''] ?? 'Not found');
  await handler({ ...exchange, params, deps, mcp, reading, large, signal: gone.signal });
}

type Asked = Pick<Exchange, 'request' | 'response' | 'target'> & { url: URL };

/** Who asks comes first: only those who may come in are told which ways there are. */
async function enter<A extends Kept>(
  door: Door,
  { url, ...asked }: Asked,
  agent: A,
  route: () => Way<A>,
): Promise<void> {
  const how = { socket: false, ...openedBy(url.pathname) };
  const known = await authenticate(door.deps, asked.request, url, asked.target.agentId, how).catch((error: unknown) => {
    // What opens it while it runs is no secret that is wrong: it is told why it opens nothing now.
    throw agent.isStopped ? new AppError(502, 'Agent is not running', {}, { cause: error }) : error;
  });
  const { principal } = known;
  const way = route();
  requireRight(principal, way[2]);
  await serve(door, way, { ...asked, agent, principal, query: url.searchParams }, url, known);
}

function wayOf({ method }: IncomingMessage, { pathname }: URL): Way<Agent> {
  const matching = ROUTES.filter(([, path]) => path.test(pathname));
  const way = matching.find(([one]) => one === method);
  if (!way) throw matching.length > 0 ? new AppError(405, 'Method not allowed') : new AppError(404, 'Not found');
  return way;
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { log, version } = deps;
  const connections = createConnections(deps);
  const mcp = createMcpDoor(deps);
  const door: Door = { deps, connections, mcp, reading: createFairQueue(READING), large: createLargeBodies() };
  const sockets = createSockets(deps, connections);

  async function handle(request: IncomingMessage, response: ServerResponse, target: GatewayTarget): Promise<void> {
    try {
      await answer(request, response, target);
    } catch (error) {
      fail(log, error, request, response, target);
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse, target: GatewayTarget): Promise<void> {
    checkOneHost(request.rawHeaders);
    const url = requestUrl(target.path);
    if (await deps.webhook?.(target, request, response)) return;
    if (request.method === 'GET' && url.pathname === '/health') {
      return void sendJson({ response }, { status: 'ok', agentId: target.agentId, version });
    }
    const asked = { request, response, target, url };
    const reading = READS.find(([method, path]) => method === request.method && path.test(url.pathname));
    if (reading) return enter(door, asked, await found(deps.kept ?? deps.agent, target), () => reading);
    const agent = await found(deps.agent, target);
    if (request.method === 'GET' && url.pathname === '/ready') {
      await agent.definition();
      return void sendJson({ response }, { status: 'ready', agentId: agent.id });
    }
    if (request.method === 'GET' && url.pathname === CARD_PATH)
      return void sendJson({ response }, await agentCard(agent, deps));
    await enter(door, asked, agent, () => wayOf(request, url));
  }

  return {
    handle,
    upgrade: sockets.upgrade,
    cut: connections.cut,
    async close() {
      connections.close();
      await mcp.close();
      await sockets.close();
    },
  };
}

/** Protocols of agents and of pages, for programs of the owner's too. */
const PROGRAMS_PATH = /^\/(a2a|ag-ui)(\?|$)/;
const isModelPath = (path: string): boolean => path.startsWith('/v1/');

/** Where programs of the owner's come in by an API key, and where also by what they were given. */
export function openedBy(path: string): Pick<Showing, 'asModel' | 'asClient'> {
  const asClient = /^\/mcp(\?|$)/.test(path);
  return { asModel: asClient || isModelPath(path) || PROGRAMS_PATH.test(path), asClient };
}

/** Below /v1 errors look as the protocol's clients expect them. */
function shapeOf({ headers }: IncomingMessage, { path }: GatewayTarget): ErrorShape | undefined {
  if (!isModelPath(path)) return undefined;
  return path.startsWith('/v1/messages') ? 'anthropic' : shapeFor(headers);
}

/** `Authorization: Bearer …`, `x-api-key`, a WebSocket subprotocol `bearer, …`, or the query where nothing else is possible. */
export function shownToken(request: IncomingMessage, url: URL): string | undefined {
  const own = request.headers['x-api-key'];
  const header =
    /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? (typeof own === 'string' ? own : undefined);
  const protocol = /^bearer, *(\S+)$/i.exec(request.headers['sec-websocket-protocol'] ?? '')?.[1];
  const query = QUERY_TOKEN_PATH.test(url.pathname) ? url.searchParams.get('token') : null;
  return header ?? protocol ?? query ?? undefined;
}

/** Its row is gone, or somebody else's: it was deleted while the request was on its way. */
const isDeleted = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === '23503';

function knownError(error: unknown): AppError {
  const known = answerable(error);
  if (known) return known;
  return isDeleted(error) ? new AppError(404, AGENT_NOT_FOUND) : new AppError(500, 'Internal server error');
}
