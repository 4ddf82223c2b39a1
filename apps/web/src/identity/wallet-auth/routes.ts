import { getNonce, postNonce, walletSignIn } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import { entered } from '../entered.ts';
import { originOf } from '../origin.ts';
import type { WalletAuth } from './service.ts';

export function walletAuthRoutes(server: Server, wallets: WalletAuth): void {
  const nonce = async () => respond({ headers: { 'cache-control': 'no-store' }, body: await wallets.nonce() });
  serve(server, getNonce, nonce);
  serve(server, postNonce, nonce);
  serve(server, walletSignIn, async ({ body, request }) => {
    return entered(await wallets.signIn(body, originOf(request)));
  });
}
