import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  AGENT_NOT_FOUND,
  agentResourceMetadata,
  GATEWAY_ENDPOINTS,
  getInstanceStats,
  getRuntimeAbilities,
  listInstances,
} from '@troupe/contract';
import type { GatewayTarget } from '@troupe/agent';
import type { Driver } from '@troupe/fleet';
import { AppError, bearerToken, limitFor, serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { RuntimeService } from './service.ts';
import { createResource, isResourceMetadata } from './resource.ts';
import { createSocketCount, socketAddress } from './sockets.ts';
import { hostLabel, hostRewrite, PROXY, targetOf } from './target.ts';

export interface RuntimeRouteDeps {
  runtime: RuntimeService;
  driver: Driver;
  /** Why commands cannot run here. */
  shellOff: () => Promise<string | undefined>;
  /** The agent that shows this token as a member of its team. */
  memberOf: (token: string) => string | undefined;
}

export function runtimeRoutes(server: Server, deps: RuntimeRouteDeps): void {
  const { runtime, shellOff } = deps;
  serve(server, listInstances, ({ request }) => runtime.instances(actingFor(request)));
  serve(server, getInstanceStats, ({ params, request }) => runtime.stats(params.id, actingFor(request)));
  serve(server, getRuntimeAbilities, async () => ({ shell: { reason: (await shellOff()) ?? null } }));
  proxyRoutes(server, deps);
}

/** The agent reads the request itself, so nothing here may touch its body. */
function proxyRoutes(server: Server, { runtime, driver, memberOf }: RuntimeRouteDeps): void {
  const { app } = server;
  server.endpoints.push(...GATEWAY_ENDPOINTS);
  const labelOf = hostLabel(server.settings.AGENTS_DOMAIN);
  /** Who came by a host name may have lost the capitals of the agent's id on the way. */
  async function target(request: IncomingMessage, url: string): Promise<GatewayTarget | undefined> {
    const found = targetOf(url);
    const label = labelOf(request);
    return found && label !== undefined ? { ...found, agentId: await runtime.idOfHost(label) } : found;
  }
  const resource = createResource(server, labelOf);
  const limit = limitFor(server.counters, 'backend', 'GET', `${PROXY}/:agentId`, server.rateRules);
  const counted = (request: Parameters<Server['clientAddress']>[0]): string => {
    const member = memberOf(bearerToken(request) ?? '');
    return member === undefined ? (server.toldAs(request) ?? server.clientAddress(request)) : `agent:${member}`;
  };
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const url of [`${PROXY}/:agentId`, `${PROXY}/:agentId/*`]) {
      scope.all(url, {
        onRequest: async (request, reply) => limit?.(request, reply, counted(request)),
        handler: async (request, reply) => {
          const to = await target(request.raw, request.url);
          if (!to) throw new AppError(404, AGENT_NOT_FOUND);
          if (request.method === 'GET' && isResourceMetadata(to.path)) return resource.metadata(request, to.agentId);
          if (to.path.split('?', 1)[0] === '/mcp') resource.challenge(request, reply.raw, to.agentId);
          for (const [name, value] of Object.entries(reply.getHeaders()))
            if (value !== undefined) reply.raw.setHeader(name, value);
          reply.hijack();
          try {
            await driver.handle(request.raw, reply.raw, to);
          } catch (err) {
            // Nobody answers in its place once it is hijacked.
            server.log.error({ err, agentId: to.agentId, requestId: request.id }, 'an agent’s gateway failed');
            breakOff(reply.raw);
          }
        },
      });
    }
  });
  // Where clients look that were not told: the well-known part comes before the path.
  serve(server, agentResourceMetadata, ({ params, request }) => resource.described(request, params.agentId));
  const rewrite = hostRewrite(server.settings.AGENTS_DOMAIN);
  const sockets = createSocketCount();
  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    server.checkHost(request.headers.host);
    await limit?.(request, { headers: () => undefined }, socketAddress(request, server.settings.TRUST_PROXY));
    const to = await target(request, rewrite(request) ?? request.url ?? '');
    if (!to) throw new AppError(404, AGENT_NOT_FOUND);
    const owner = await runtime.ownerOf(to.agentId);
    if (owner !== undefined) sockets.take(owner, socket);
    await driver.upgrade(request, socket, head, to);
  }
  app.server.on('upgrade', (request, socket, head) => {
    // From now on: one that breaks while its agent is looked up would end the process.
    socket.on('error', () => socket.destroy());
    upgrade(request, socket, head).catch((err: unknown) => {
      if (err instanceof AppError) return refuse(socket, err);
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

function refuse(socket: Duplex, { status, body }: AppError): void {
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  // Ended from this side alone it would be held open by whoever does not answer.
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
