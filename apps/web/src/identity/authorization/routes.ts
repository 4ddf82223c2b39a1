import { web } from '@troupe/contract';
import { CLIENT_SCOPES, OFFLINE_SCOPE } from '@troupe/domain';
import { respond, serve, type RequestInfo, type Server } from '@troupe/kernel';
import { formOf } from './form.ts';
import type { AuthorizationService } from './service.ts';

const NO_STORE = { 'cache-control': 'no-store' };

export function authorizationRoutes(server: Server, authorization: AuthorizationService): void {
  const origins = ({ origin }: RequestInfo) => [origin, server.origin];
  serve(server, web.authorization.getMetadata, ({ request: { origin } }) => ({
    issuer: origin,
    authorization_endpoint: `${origin}/dashboard/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    registration_endpoint: `${origin}/oauth/register`,
    revocation_endpoint: `${origin}/oauth/revoke`,
    scopes_supported: [...Object.keys(CLIENT_SCOPES), OFFLINE_SCOPE],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  }));
  serve(server, web.authorization.registerClient, async ({ body }) =>
    respond({ status: 201, headers: NO_STORE, body: await authorization.register(body) }),
  );
  serve(server, web.authorization.exchangeToken, async ({ request }) =>
    respond({ headers: NO_STORE, body: await authorization.exchange(formOf(request)) }),
  );
  serve(server, web.authorization.revokeToken, async ({ request }) => {
    await authorization.revoke(formOf(request));
    return respond({ headers: NO_STORE, body: {} });
  });
  serve(server, web.authorization.describe, ({ user, query, request }) =>
    authorization.describe(user.id, query, origins(request)),
  );
  serve(server, web.authorization.decide, ({ user, body, request }) =>
    authorization.decide(user, body, { origins: origins(request), issuer: request.origin, ip: request.address }),
  );
  serve(server, web.authorization.list, async ({ user }) => ({ authorizations: await authorization.list(user.id) }));
  serve(server, web.authorization.end, async ({ user, params, request }) => {
    await authorization.remove(user.id, params.id, request.address);
    return { success: true as const };
  });
}
