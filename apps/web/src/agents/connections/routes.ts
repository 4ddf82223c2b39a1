import {
  attachMcpServer,
  clientDocument,
  connectMcpServer,
  finishMcpServer,
  listMcpServers,
  removeMcpServer,
  testMcpServer,
} from '@troupe/contract';
import { redirect, serve, type Server } from '@troupe/kernel';
import { CALLBACK, CLIENT_DOCUMENT, type ConnectionsService } from './service.ts';

export function connectionRoutes(server: Server, connections: ConnectionsService): void {
  serve(server, listMcpServers, ({ user, params, request }) => connections.list(user, params.id, request.address));
  serve(server, attachMcpServer, ({ user, params, body, request }) =>
    connections.attach(user, params.id, params.name, body, request.address),
  );
  serve(server, removeMcpServer, ({ user, params, request }) =>
    connections.remove(user, params.id, params.name, request.address),
  );
  serve(server, testMcpServer, ({ user, params, request }) =>
    connections.test(user, params.id, params.name, request.address),
  );
  serve(server, connectMcpServer, ({ user, params, request }) =>
    connections.connect(user, params.id, params.name, request),
  );
  serve(server, finishMcpServer, async ({ user, query, request }) =>
    redirect(await connections.finish(user, query, request.address)),
  );
  serve(server, clientDocument, ({ request: { origin } }) => ({
    client_id: origin + CLIENT_DOCUMENT,
    client_name: 'Troupe',
    client_uri: origin,
    redirect_uris: [origin + CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }));
}
