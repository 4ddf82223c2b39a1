import { backend } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { AgentWallets } from './service.ts';

export function walletRoutes(server: Server, wallets: AgentWallets): void {
  serve(server, backend.wallets.create, async ({ user, body }) => {
    const { made, wallet } = await wallets.create(user.id, body);
    return respond({ status: made ? 201 : 200, body: wallet });
  });
  serve(server, backend.wallets.list, ({ user }) => wallets.list(user.id));
  serve(server, backend.wallets.getBalance, ({ user, params }) => wallets.balance(user.id, params.address));
}
