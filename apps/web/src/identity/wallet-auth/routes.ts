import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import { entered } from '../entered.ts';
import { originOf } from '../origin.ts';
import type { WalletAuth } from './service.ts';

export function walletAuthRoutes(server: Server, wallets: WalletAuth): void {
  const nonce = async () => respond({ headers: { 'cache-control': 'no-store' }, body: await wallets.nonce() });
  serve(server, web.walletAuth.getNonce, nonce);
  serve(server, web.walletAuth.postNonce, nonce);
  serve(server, web.walletAuth.signIn, async ({ body, request }) => {
    return entered(await wallets.signIn(body, originOf(request)));
  });
}
