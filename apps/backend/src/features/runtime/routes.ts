import { GATEWAY_ENDPOINTS, getInstanceStats, listInstances } from '@troupe/contract';
import type { Driver } from '@troupe/fleet';
import { limitFor, serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { RuntimeService } from './service.ts';
import { hostRewrite, PROXY, targetOf } from './target.ts';

export function runtimeRoutes(server: Server, runtime: RuntimeService, driver: Driver): void {
  serve(server, listInstances, () => runtime.instances());
  serve(server, getInstanceStats, ({ params, request }) => runtime.stats(params.id, actingFor(request)));
  proxyRoutes(server, driver);
}

/** The agent reads the request itself, so nothing here may touch its body. */
function proxyRoutes(server: Server, driver: Driver): void {
  const { app } = server;
  server.endpoints.push(...GATEWAY_ENDPOINTS);
  const limit = limitFor(server.counters, 'backend', 'GET', `${PROXY}/:agentId`, server.rateRules);
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const url of [`${PROXY}/:agentId`, `${PROXY}/:agentId/*`]) {
      scope.all(url, {
        onRequest: async (request, reply) => limit?.(request, reply, server.clientAddress(request)),
        handler: async (request, reply) => {
          for (const [name, value] of Object.entries(reply.getHeaders()))
            if (value !== undefined) reply.raw.setHeader(name, value);
          reply.hijack();
          await driver.handle(request.raw, reply.raw, targetOf(request.url)!);
        },
      });
    }
  });
  const rewrite = hostRewrite(server.settings.AGENTS_DOMAIN);
  app.server.on('upgrade', (request, socket, head) => {
    const target = targetOf(rewrite(request) ?? request.url ?? '');
    if (target) void driver.upgrade(request, socket, head, target);
    else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
  });
}
