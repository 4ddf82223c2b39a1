import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Admin } from './service.ts';

export function adminRoutes(server: Server, admin: Admin): void {
  serve(server, web.admin.listUsers, ({ query }) => admin.list(query));
  serve(server, web.admin.updateUser, ({ user, params, body, request }) =>
    admin.update({ actorId: user.id, ip: request.address }, params.id, body),
  );
}
