import { web } from '@troupe/contract';
import { respond, serve, SESSION_COOKIE, type Server } from '@troupe/kernel';
import type { Bots } from '../bots.ts';
import { entered } from '../entered.ts';
import { serveGone } from '../gone.ts';
import { DEVICE_COOKIE } from '../known-devices.ts';
import { originOf } from '../origin.ts';
import type { SessionService } from './service.ts';

export function sessionRoutes(server: Server, sessions: SessionService, bots: Bots): void {
  serve(server, web.session.login, async ({ body, request }) => {
    return entered(await sessions.login(body, originOf(request), request.cookies()[DEVICE_COOKIE]));
  });
  serve(server, web.session.get, ({ user }) => ({
    user: user && { id: user.id, name: user.name, email: user.email, isAdmin: user.isAdmin },
  }));
  serve(server, web.session.signOut, async ({ request }) => {
    const cookie = await sessions.signOut(request.cookies()[SESSION_COOKIE]);
    return respond({ body: { ok: true }, cookies: [cookie] });
  });
  serve(server, web.session.getCsrf, ({ user }) => ({ token: sessions.csrf(user), header: 'x-csrf-token' as const }));
  serve(server, web.session.getChallenge, () => bots.challenge());
  serve(server, web.session.list, ({ user }) => sessions.list(user));
  serve(server, web.session.end, async ({ user, params, request }) => {
    await sessions.end(user, params.id, request.address);
    return { success: true as const };
  });
  serveGone(server, web.session.goneCredentials, '/api/auth/login');
}
