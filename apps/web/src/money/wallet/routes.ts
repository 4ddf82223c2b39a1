import {
  addWallet,
  createCustodyWallet,
  getCustody,
  getWallet,
  getWalletAddress,
  listTransactions,
  postWallet,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { WalletService } from './service.ts';

export function walletRoutes(server: Server, wallet: WalletService): void {
  serve(server, getWallet, ({ user, query }) =>
    query.address === undefined ? wallet.status(user?.id) : wallet.balance(query.address),
  );
  serve(server, postWallet, ({ user, body }) => wallet.act(user.id, body.action));
  serve(server, getWalletAddress, ({ user }) => wallet.address(user?.id));
  serve(server, createCustodyWallet, ({ user }) => wallet.createInCustody(user.id));
  serve(server, getCustody, () => wallet.custody());
  serve(server, addWallet, ({ user, body }) => wallet.add(user.id, body?.privateKey));
  serve(server, listTransactions, ({ query }) => wallet.transactions(query.address, query.limit));
}
