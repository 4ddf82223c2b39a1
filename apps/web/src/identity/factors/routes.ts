import {
  addPasskey,
  confirmTotp,
  listFactors,
  makeRecoveryCodes,
  removeFactor,
  resetFactors,
  startPasskey,
  startTotp,
} from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { Factors } from './service.ts';

const NO_STORE = { 'cache-control': 'no-store' };

export function factorRoutes(server: Server, factors: Factors): void {
  serve(server, listFactors, ({ user }) => factors.list(user));
  serve(server, startTotp, async ({ user, body }) =>
    respond({ headers: NO_STORE, body: await factors.startTotp(user, body.name) }),
  );
  serve(server, confirmTotp, async ({ user, params, body, request }) =>
    respond({ headers: NO_STORE, body: await factors.confirmTotp(user, params.id, body.code, request.address) }),
  );
  serve(server, startPasskey, ({ user }) => factors.startPasskey(user));
  serve(server, addPasskey, async ({ user, body, request }) =>
    respond({ headers: NO_STORE, body: await factors.addPasskey(user, body, request.address) }),
  );
  serve(server, removeFactor, async ({ user, params, request }) => {
    await factors.remove(user, params.id, request.address);
    return { success: true as const };
  });
  serve(server, makeRecoveryCodes, async ({ user, request }) =>
    respond({ headers: NO_STORE, body: { recoveryCodes: await factors.newCodes(user, request.address) } }),
  );
  serve(server, resetFactors, async ({ user, params, request }) => {
    await factors.reset(user, params.id, request.address);
    return { success: true as const };
  });
}
