import { web } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { serveGone } from '../gone.ts';
import type { Invites } from './service.ts';

export function inviteRoutes(server: Server, invites: Invites): void {
  serve(server, web.invites.create, ({ user, body, request }) => invites.create(user, body.name, request.address));
  serve(server, web.invites.verify, ({ body }) => invites.verify(body.token));
  serve(server, web.invites.list, () => invites.list());
  serve(server, web.invites.createByAdmin, ({ user, body, request }) =>
    invites.mailOne(user, body.email, request.address),
  );
  serveGone(server, web.invites.goneGenerate, '/api/invite');
  serveGone(server, web.invites.goneValidate, '/api/invites/verify');
}
