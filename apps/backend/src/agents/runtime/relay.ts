import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GATEWAY_ROUTES, openedBy, shownToken, type GatewayTarget, type Verify } from '@troupe/agent';
import { AGENT_NOT_FOUND } from '@troupe/contract';
import type { Driver } from '@troupe/fleet';
import {
  allowPage,
  answerable,
  answersPreflight,
  AppError,
  bearerToken,
  checkPage,
  isListening,
  limitFor,
  methodsForPages,
  requestUrl,
  type Server,
} from '@troupe/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RuntimeService } from './service.ts';
import { isResourceMetadata, type Resource } from './resource.ts';
import { createSocketCount, socketAddress } from './sockets.ts';
import { hostLabel, hostRewrite, PROXY, targetOf } from './target.ts';

export interface RelayDeps {
  runtime: RuntimeService;
  driver: Driver;
  /** The agent that shows this token as a member of its team. */
  memberOf: (token: string) => string | undefined;
  resource: Resource;
  verify: Verify;
}

type Limit = ReturnType<typeof limitFor>;
type Target = (request: IncomingMessage, url: string) => Promise<GatewayTarget>;

/** Leads requests and sockets to the gateways of agents. */
export function relayToAgents(server: Server, deps: RelayDeps): void {
  const labelOf = hostLabel(server.settings.AGENTS_DOMAIN);
  /** Who came by a host name may have lost the capitals of the agent's id on the way. */
  const target: Target = async (request, url) => {
    const found = targetOf(url);
    if (!found) throw new AppError(404, AGENT_NOT_FOUND);
    const label = labelOf(request);
    return label === undefined ? found : { ...found, agentId: await deps.runtime.idOfHost(label) };
  };
  const limit = limitFor(server.counters, 'backend', 'GET', `${PROXY}/:agentId`, server.rateRules);
  relayRequests(server, deps, target, limit);
  relaySockets(server, deps, target, limit);
}

/** Where pages of other origins may call an agent: as a model, at /mcp and at /ag-ui. */
const PAGE_PATH = /^\/(v1\/.+|mcp|ag-ui)$/;
const PAGES = GATEWAY_ROUTES.filter(({ path }) => PAGE_PATH.test(path)).map((way) => ({ ...way, pages: true }));

/** Pages come in where the key names them, as at /v1. True: it was the question of a browser, and is answered. */
async function letPageIn(
  server: Server,
  verify: Verify,
  request: FastifyRequest,
  reply: FastifyReply,
  { agentId, path }: GatewayTarget,
): Promise<boolean> {
  const [below = ''] = path.split('?', 1);
  if (request.headers.origin === undefined || !PAGE_PATH.test(below)) return false;
  if (answersPreflight(request, reply, () => methodsForPages(PAGES, below))) return true;
  allowPage(request, reply);
  // Whatever the agent would take as a token.
  const token = shownToken(request.raw, requestUrl(path));
  const showing = { socket: false, ...openedBy(path) };
  const principal = token === undefined ? undefined : await verify(agentId, token, showing);
  // Who is nobody hears so from the agent.
  if (principal) checkPage(request, principal, server.originFor(request));
  return false;
}

/** Who gives tokens for an agent's /mcp may be asked by any page. */
function tellsResource(
  resource: Resource,
  request: FastifyRequest,
  reply: FastifyReply,
  { agentId, path }: GatewayTarget,
): object | undefined {
  if (!isResourceMetadata(path)) return undefined;
  if (answersPreflight(request, reply, () => ['GET'])) return reply;
  if (request.method !== 'GET') return undefined;
  allowPage(request, reply);
  return resource.metadata(request, agentId);
}

/** The agent reads the request itself, so nothing here may touch its body. */
function relayRequests(server: Server, deps: RelayDeps, target: Target, limit: Limit): void {
  const { driver, memberOf, resource, verify } = deps;
  const counted = (request: Parameters<Server['clientAddress']>[0]): string => {
    const member = memberOf(bearerToken(request) ?? '');
    return member === undefined ? (server.toldAs(request) ?? server.clientAddress(request)) : `agent:${member}`;
  };
  void server.app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const path of ['', '/*', '/v1/*']) {
      scope.all(`${PROXY}/:agentId${path}`, {
        // Where clients of models expect an error as their protocol has it.
        config: path === '/v1/*' ? { errorShape: 'either' } : {},
        onRequest: async (request, reply) => {
          const whom = counted(request);
          await limit?.(request, reply, whom);
          if (!isListening(reply.raw) && !reply.raw.destroyed) reply.raw.once('close', server.places.pass(whom));
        },
        handler: async (request, reply) => {
          const to = await target(request.raw, request.url);
          const told = tellsResource(resource, request, reply, to);
          if (told) return told;
          if (await letPageIn(server, verify, request, reply, to)) return reply;
          if (to.path.split('?', 1)[0] === '/mcp') resource.challenge(request, reply.raw, to.agentId);
          for (const [name, value] of Object.entries(reply.getHeaders()))
            if (value !== undefined) reply.raw.setHeader(name, value);
          reply.hijack();
          const { id, raw } = request;
          const response = reply.raw;
          // When the server closes, the agent's gateway says a last word on it; until then it is not cut.
          const place = server.onClosing.add(() => {});
          response.once('close', () => server.onClosing.delete(place));
          // Not waited for: Fastify would keep all of the request for as long as its answer takes.
          driver.handle(raw, response, to).catch((err: unknown) => {
            // Nobody answers in its place once it is hijacked.
            server.log.error({ err, agentId: to.agentId, requestId: id }, 'an agent’s gateway failed');
            breakOff(response);
          });
          return reply;
        },
      });
    }
  });
}

function relaySockets(server: Server, { runtime, driver }: RelayDeps, target: Target, limit: Limit): void {
  const rewrite = hostRewrite(server.settings.AGENTS_DOMAIN);
  const sockets = createSocketCount();
  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    server.checkHost(request);
    await limit?.(request, { headers: () => undefined }, socketAddress(request, server.settings.TRUST_PROXY));
    const to = await target(request, rewrite(request) ?? request.url ?? '');
    const owner = await runtime.ownerOf(to.agentId);
    if (owner !== undefined) sockets.take(owner, socket);
    await driver.upgrade(request, socket, head, to);
  }
  server.app.server.on('upgrade', (request, socket, head) => {
    // From now on: one that breaks while its agent is looked up would end the process.
    socket.on('error', () => socket.destroy());
    upgrade(request, socket, head).catch((err: unknown) => {
      const known = answerable(err);
      if (known) return refuse(socket, known);
      server.log.error({ err }, 'a WebSocket could not be opened');
      socket.destroy();
    });
  });
}

function breakOff(response: ServerResponse): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(500, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ error: 'Internal server error' }));
}

function refuse(socket: Duplex, { status, body, headers }: AppError): void {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  // Ended from this side alone it would be held open by whoever does not answer.
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
