import {
  endSession,
  getChallenge,
  getCsrf,
  getSession,
  goneCredentials,
  listSessions,
  login,
  signOut,
} from '@troupe/contract';
import { respond, serve, SESSION_COOKIE, type Server } from '@troupe/kernel';
import type { Bots } from '../bots.ts';
import { entered } from '../entered.ts';
import { serveGone } from '../gone.ts';
import { originOf } from '../origin.ts';
import type { SessionService } from './service.ts';

export function sessionRoutes(server: Server, sessions: SessionService, bots: Bots): void {
  serve(server, login, async ({ body, request }) => {
    return entered(await sessions.login(body, originOf(request)));
  });
  serve(server, getSession, ({ user }) => ({
    user: user && { id: user.id, name: user.name, email: user.email, isAdmin: user.isAdmin },
  }));
  serve(server, signOut, async ({ request }) => {
    const cookie = await sessions.signOut(request.cookies()[SESSION_COOKIE]);
    return respond({ body: { ok: true }, cookies: [cookie] });
  });
  serve(server, getCsrf, ({ user }) => ({ token: sessions.csrf(user), header: 'x-csrf-token' as const }));
  serve(server, getChallenge, () => bots.challenge());
  serve(server, listSessions, ({ user }) => sessions.list(user));
  serve(server, endSession, async ({ user, params, request }) => {
    await sessions.end(user, params.id, request.address);
    return { success: true as const };
  });
  serveGone(server, goneCredentials, '/api/auth/login');
}
