import { underground, webUnderground } from '@troupe/contract';
import { respond, serve, type BackendClient, type Server } from '@troupe/kernel';
import { passOn } from '../../platform/reach.ts';
import { asUserOf } from '../pass.ts';

export function walletRoutes(server: Server, backend: BackendClient): void {
  const as = asUserOf(backend);
  serve(server, webUnderground.createAgentWallet, async ({ user, body, request }) => {
    const response = await passOn(as(user, request).open(underground.createAgentWallet, { body }));
    return respond({ status: response.status, body: await response.json() });
  });
  serve(server, webUnderground.listAgentWallets, ({ user, request }) =>
    passOn(as(user, request).call(underground.listAgentWallets, {})),
  );
  serve(server, webUnderground.getAgentWalletBalance, ({ user, params, request }) =>
    passOn(as(user, request).call(underground.getAgentWalletBalance, { params })),
  );
}
