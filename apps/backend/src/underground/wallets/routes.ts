import { underground } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { AgentWallets } from './service.ts';

export function walletRoutes(server: Server, wallets: AgentWallets): void {
  serve(server, underground.createAgentWallet, async ({ user, body }) => {
    const { made, wallet } = await wallets.create(user.id, body);
    return respond({ status: made ? 201 : 200, body: wallet });
  });
  serve(server, underground.listAgentWallets, ({ user }) => wallets.list(user.id));
  serve(server, underground.getAgentWalletBalance, ({ user, params }) => wallets.balance(user.id, params.address));
}
