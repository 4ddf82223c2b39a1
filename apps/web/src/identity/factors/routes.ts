import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { Factors } from './service.ts';

const NO_STORE = { 'cache-control': 'no-store' };

export function factorRoutes(server: Server, factors: Factors): void {
  serve(server, web.factors.list, ({ user }) => factors.list(user));
  serve(server, web.factors.startTotp, async ({ user, body }) =>
    respond({ headers: NO_STORE, body: await factors.startTotp(user, body.name) }),
  );
  serve(server, web.factors.confirmTotp, async ({ user, params, body, request }) =>
    respond({ headers: NO_STORE, body: await factors.confirmTotp(user, params.id, body.code, request.address) }),
  );
  serve(server, web.factors.startPasskey, ({ user }) => factors.startPasskey(user));
  serve(server, web.factors.addPasskey, async ({ user, body, request }) =>
    respond({ headers: NO_STORE, body: await factors.addPasskey(user, body, request.address) }),
  );
  serve(server, web.factors.remove, async ({ user, params, request }) => {
    await factors.remove(user, params.id, request.address);
    return { success: true as const };
  });
  serve(server, web.factors.makeRecoveryCodes, async ({ user, request }) =>
    respond({ headers: NO_STORE, body: { recoveryCodes: await factors.newCodes(user, request.address) } }),
  );
  serve(server, web.factors.reset, async ({ user, params, request }) => {
    await factors.reset(user, params.id, request.address);
    return { success: true as const };
  });
}
