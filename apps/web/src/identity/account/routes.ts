import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { AccountService } from './service.ts';

const HEADERS = {
  'content-type': 'application/x-tar',
  'content-disposition': 'attachment; filename="troupe-account.tar"',
  'cache-control': 'private, no-store',
  'x-content-type-options': 'nosniff',
};

export function accountRoutes(server: Server, account: AccountService): void {
  serve(server, web.account.getClosing, ({ user }) => account.get(user));
  serve(server, web.account.download, async ({ user, request }) =>
    respond({ headers: HEADERS, stream: await account.export(user, request.address, request.signal()) }),
  );
  serve(server, web.account.close, async ({ user, body, request }) => ({
    eraseAt: await account.close(user, body.giveUpMoney, request.address),
  }));
  serve(server, web.account.keep, async ({ user, request }) => {
    await account.keep(user, request.address);
    return { success: true as const };
  });
}
