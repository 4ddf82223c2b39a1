import { backend as onBackend, web } from '@troupe/contract';
import { respond, serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asUserOf } from '../pass.ts';

export function walletRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, web.wallets.create, async ({ user, body, request }) => {
    const response = await passOn(as(user, request).open(onBackend.wallets.create, { body }));
    return respond({ status: response.status, body: await response.json() });
  });
  serve(server, web.wallets.list, ({ user, request }) => passOn(as(user, request).call(onBackend.wallets.list, {})));
  serve(server, web.wallets.getBalance, ({ user, params, request }) =>
    passOn(as(user, request).call(onBackend.wallets.getBalance, { params })),
  );
}
