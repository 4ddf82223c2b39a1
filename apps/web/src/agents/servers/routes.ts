import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { ServersService } from './service.ts';

export function serverRoutes(server: Server, servers: ServersService): void {
  serve(server, web.servers.list, ({ user }) => servers.list(user));
  serve(server, web.servers.save, ({ user, params, body }) => servers.save(user, params.name, body));
  serve(server, web.servers.change, ({ user, params, body }) => servers.change(user, params.name, body));
  serve(server, web.servers.remove, ({ user, params }) => servers.remove(user, params.name));
  serve(server, web.servers.test, ({ user, params, body, request }) =>
    servers.test(user, params.name, body.agentId, request.address),
  );
  serve(server, web.servers.update, ({ user, params, body, request }) =>
    servers.update(user, params.name, body.agentId, request.address),
  );
  serve(server, web.servers.connect, ({ user, params, request }) => servers.connect(user, params.name, request));
}
