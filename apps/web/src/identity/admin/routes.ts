import { listUsers, updateUser } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Admin } from './service.ts';

export function adminRoutes(server: Server, admin: Admin): void {
  serve(server, listUsers, ({ query }) => admin.list(query));
  serve(server, updateUser, ({ user, params, body, request }) =>
    admin.update({ actorId: user.id, ip: request.address }, params.id, body),
  );
}
