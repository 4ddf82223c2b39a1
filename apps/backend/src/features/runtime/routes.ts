import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GATEWAY_ENDPOINTS, getInstanceStats, listInstances } from '@troupe/contract';
import type { GatewayTarget } from '@troupe/agent';
import type { Driver } from '@troupe/fleet';
import { bearerToken, limitFor, serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { RuntimeService } from './service.ts';
import { hostLabel, hostRewrite, PROXY, targetOf } from './target.ts';

export interface RuntimeRouteDeps {
  runtime: RuntimeService;
  driver: Driver;
  /** The agent that shows this token as a member of its team. */
  memberOf: (token: string) => string | undefined;
}

export function runtimeRoutes(server: Server, deps: RuntimeRouteDeps): void {
  const { runtime } = deps;
  serve(server, listInstances, () => runtime.instances());
  serve(server, getInstanceStats, ({ params, request }) => runtime.stats(params.id, actingFor(request)));
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
  const limit = limitFor(server.counters, 'backend', 'GET', `${PROXY}/:agentId`, server.rateRules);
  const counted = (request: Parameters<Server['clientAddress']>[0]): string => {
    const member = memberOf(bearerToken(request) ?? '');
    return member === undefined ? server.clientAddress(request) : `agent:${member}`;
  };
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const url of [`${PROXY}/:agentId`, `${PROXY}/:agentId/*`]) {
      scope.all(url, {
        onRequest: async (request, reply) => limit?.(request, reply, counted(request)),
        handler: async (request, reply) => {
          const to = (await target(request.raw, request.url))!;
          for (const [name, value] of Object.entries(reply.getHeaders()))
            if (value !== undefined) reply.raw.setHeader(name, value);
          reply.hijack();
          await driver.handle(request.raw, reply.raw, to);
        },
      });
    }
  });
  const rewrite = hostRewrite(server.settings.AGENTS_DOMAIN);
  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const to = await target(request, rewrite(request) ?? request.url ?? '');
    if (to) return driver.upgrade(request, socket, head, to);
    socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
  }
  app.server.on('upgrade', (request, socket, head) => {
    upgrade(request, socket, head).catch((err: unknown) => {
      server.log.error({ err }, 'a WebSocket could not be opened');
      socket.destroy();
    });
  });
}
