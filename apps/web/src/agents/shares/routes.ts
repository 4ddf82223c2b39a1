import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { SharesService } from './service.ts';

const JSON_TEXT = { 'content-type': 'application/json; charset=utf-8' };

export function shareRoutes(server: Server, shares: SharesService): void {
  serve(server, web.shares.create, ({ user, params, request }) =>
    shares.share(user, params.id, params.sessionId, request.address),
  );
  serve(server, web.shares.list, ({ user, params }) => shares.list(user, params.id));
  serve(server, web.shares.remove, ({ user, params }) => shares.remove(user, params.id, params.shareId));
  serve(server, web.shares.read, async ({ params, request }) =>
    respond({ headers: JSON_TEXT, body: await shares.read(params.token, request.address) }),
  );
}
