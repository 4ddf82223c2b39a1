import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { AccessService } from './service.ts';

export function accessRoutes(server: Server, access: AccessService): void {
  serve(server, web.access.get, ({ user }) => access.read(user));
  serve(server, web.access.ask, ({ user, body }) => access.ask(user, body.note));
  serve(server, web.access.list, ({ query }) => access.waiting(query));
  serve(server, web.access.decide, ({ user, params, body, request }) =>
    access.decide({ actorId: user.id, ip: request.address }, params.id, body),
  );
  serve(server, web.access.getOffers, () => access.offers());
}
