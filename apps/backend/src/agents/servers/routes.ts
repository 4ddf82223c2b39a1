import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { actingFor } from '../../context.ts';
import type { ServersService } from './service.ts';

export function serverRoutes(server: Server, servers: ServersService): void {
  serve(server, backend.servers.consent, ({ user, params, body }) => servers.begin(user.id, params.name, body));
  serve(server, backend.servers.consented, ({ user, params, body }) => servers.finish(user.id, params.name, body));
  serve(server, backend.servers.listForAgent, ({ user, request }) =>
    servers.listForAgent(request.headers['x-agent-id'], user?.id ?? actingFor(request)),
  );
  serve(server, backend.servers.tell, ({ user, request, params, body }) =>
    servers.tell(request.headers['x-agent-id'], user?.id ?? actingFor(request), params.id, body),
  );
}
