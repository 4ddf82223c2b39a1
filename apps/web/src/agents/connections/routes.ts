import { web } from '@troupe/contract';
import { redirect, serve, type Server } from '@troupe/kernel';
import type { ServersService } from '../servers/service.ts';
import { CALLBACK, CLIENT_DOCUMENT, OF_ALL, placeOf } from '../consent.ts';
import type { ConnectionsService } from './service.ts';

export function connectionRoutes(server: Server, connections: ConnectionsService, servers: ServersService): void {
  serve(server, web.connections.list, ({ user, params, request }) =>
    connections.list(user, params.id, request.address),
  );
  serve(server, web.connections.attach, ({ user, params, query, body, request }) =>
    connections.attach(user, { agentId: params.id, name: params.name, force: query.force }, body, request.address),
  );
  serve(server, web.connections.remove, ({ user, params, query, request }) =>
    connections.remove(user, params.id, params.name, query.force, request.address),
  );
  serve(server, web.connections.test, ({ user, params, request }) =>
    connections.test(user, params.id, params.name, request.address),
  );
  serve(server, web.connections.connect, ({ user, params, request }) =>
    connections.connect(user, params.id, params.name, request),
  );
  serve(server, web.connections.update, ({ user, params, request }) =>
    connections.update(user, params.id, params.name, request.address),
  );
  serve(server, web.connections.use, ({ user, params, query, body }) =>
    connections.use(user, { agentId: params.id, name: params.name, force: query.force }, body.use),
  );
  serve(server, web.connections.finish, async ({ user, query, request: { address } }) => {
    const { agentId } = placeOf(query);
    const isOfAll = agentId === OF_ALL;
    return redirect(
      await (isOfAll ? servers.finish(user, query, address) : connections.finish(user, agentId, query, address)),
    );
  });
  serve(server, web.connections.getClientDocument, ({ request: { origin } }) => ({
    client_id: origin + CLIENT_DOCUMENT,
    client_name: 'Troupe',
    client_uri: origin,
    redirect_uris: [origin + CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }));
}
