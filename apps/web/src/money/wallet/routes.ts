import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { WalletService } from './service.ts';

export function walletRoutes(server: Server, wallet: WalletService): void {
  serve(server, web.wallet.get, ({ user, query }) =>
    query.address === undefined ? wallet.status(user?.id) : wallet.balance(query.address),
  );
  serve(server, web.wallet.post, ({ user, body }) => wallet.act(user.id, body.action));
  serve(server, web.wallet.getAddress, ({ user }) => wallet.address(user?.id));
  serve(server, web.wallet.create, ({ user }) => wallet.createInCustody(user.id));
  serve(server, web.wallet.getCustody, () => wallet.custody());
  serve(server, web.wallet.add, ({ user, body }) => wallet.add(user.id, body?.privateKey));
  serve(server, web.wallet.listTransactions, ({ query }) => wallet.transactions(query.address, query.limit));
}
