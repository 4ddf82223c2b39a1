import { getOffers, askAccess, decideAccess, getAccess, listAccessRequests } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { AccessService } from './service.ts';

export function accessRoutes(server: Server, access: AccessService): void {
  serve(server, getAccess, ({ user }) => access.read(user));
  serve(server, askAccess, ({ user, body }) => access.ask(user, body.note));
  serve(server, listAccessRequests, ({ query }) => access.waiting(query));
  serve(server, decideAccess, ({ user, params, body, request }) =>
    access.decide({ actorId: user.id, ip: request.address }, params.id, body),
  );
  serve(server, getOffers, () => access.offers());
}
