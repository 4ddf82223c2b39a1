import {
  createAdminInvite,
  createInvite,
  goneInviteGenerate,
  goneInviteValidate,
  listInvites,
  verifyInvite,
} from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { serveGone } from '../gone.ts';
import type { Invites } from './service.ts';

export function inviteRoutes(server: Server, invites: Invites): void {
  serve(server, createInvite, ({ user, body, request }) => invites.create(user, body.name, request.address));
  serve(server, verifyInvite, ({ body }) => invites.verify(body.token));
  serve(server, listInvites, () => invites.list());
  serve(server, createAdminInvite, ({ user, body, request }) => invites.mailOne(user, body.email, request.address));
  serveGone(server, goneInviteGenerate, '/api/invite');
  serveGone(server, goneInviteValidate, '/api/invites/verify');
}
