import { listShares, readShare, removeShare, shareConversation } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { SharesService } from './service.ts';

export function shareRoutes(server: Server, shares: SharesService): void {
  serve(server, shareConversation, ({ user, params, request }) =>
    shares.share(user, params.id, params.sessionId, request.address),
  );
  serve(server, listShares, ({ user, params }) => shares.list(user, params.id));
  serve(server, removeShare, ({ user, params }) => shares.remove(user, params.id, params.shareId));
  serve(server, readShare, ({ params }) => shares.read(params.token));
}
