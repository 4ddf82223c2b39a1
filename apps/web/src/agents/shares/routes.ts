import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { SharesService } from './service.ts';

export function shareRoutes(server: Server, shares: SharesService): void {
  serve(server, web.shares.create, ({ user, params, request }) =>
    shares.share(user, params.id, params.sessionId, request.address),
  );
  serve(server, web.shares.list, ({ user, params }) => shares.list(user, params.id));
  serve(server, web.shares.remove, ({ user, params }) => shares.remove(user, params.id, params.shareId));
  serve(server, web.shares.read, ({ params }) => shares.read(params.token));
}
