import { getNonce, postNonce, walletSignIn } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import { originOf } from '../origin.ts';
import type { WalletAuth } from './service.ts';

export function walletAuthRoutes(server: Server, wallets: WalletAuth): void {
  const nonce = async () => respond({ headers: { 'cache-control': 'no-store' }, body: await wallets.nonce() });
  serve(server, getNonce, nonce);
  serve(server, postNonce, nonce);
  serve(server, walletSignIn, async ({ body, request }) => {
    const { user, cookie } = await wallets.signIn(body, originOf(request));
    return respond({ body: { ok: true, user }, cookies: [cookie] });
  });
}
