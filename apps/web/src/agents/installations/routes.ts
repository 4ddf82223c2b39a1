import { backend as onBackend, web, type Client } from '@troupe/contract';
import {
  bearerToken,
  respond,
  serve,
  type BackendClient,
  type RequestInfo,
  type Server,
  type User,
} from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';

/** The routes are the backend's: web passes them on, with the session's user as the identity. */
export function installationRoutes(server: Server, backend: BackendClient): void {
  const as = (user: User | null, request: RequestInfo): Client =>
    user ? backend.as(user, request.address) : backend.from(request.address);
  /** A user's API key goes along: some changes need it. Nobody's does not: the call would count for web itself. */
  const headersOf = (user: User | null, request: RequestInfo): Record<string, string> => {
    const token = bearerToken(request);
    return user && token?.startsWith('sk_') ? { authorization: `Bearer ${token}` } : {};
  };
  serve(server, web.installations.registerHome, ({ user, body, request }) =>
    passOn(as(user, request).call(onBackend.installations.registerHome, { body, headers: headersOf(user, request) })),
  );
  serve(server, web.installations.registerLink, ({ user, body, request }) =>
    passOn(as(user, request).call(onBackend.installations.registerLink, { body, headers: headersOf(user, request) })),
  );
  serve(server, web.installations.list, ({ user, request }) =>
    passOn(as(user, request).call(onBackend.installations.list, { headers: headersOf(user, request) })),
  );

  const text = async (script: Promise<unknown>) =>
    respond({ headers: { 'content-type': 'text/plain; charset=utf-8' }, body: String(await passOn(script)) });
  serve(server, web.installations.getInstallScript, ({ request }) =>
    text(backend.from(request.address).call(onBackend.installations.getInstallScript, {})),
  );
  serve(server, web.installations.getLinkScript, ({ request }) =>
    text(backend.from(request.address).call(onBackend.installations.getLinkScript, {})),
  );
}
