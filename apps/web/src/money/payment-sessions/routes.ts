import { web } from '@troupe/contract';
import { respond, serve, type Server } from '@troupe/kernel';
import type { PaymentSessions } from './service.ts';

export function paymentSessionRoutes(server: Server, sessions: PaymentSessions): void {
  serve(server, web.paymentSessions.open, async ({ user, body, request }) => {
    const { session, isNew } = await sessions.open({ user, method: 'POST', request }, body.address, body.deposit);
    return isNew ? { session } : respond({ status: 200, body: { session, note: 'Active session already exists' } });
  });
  serve(server, web.paymentSessions.list, async ({ user, query, request }) => {
    const caller = { user, method: 'GET' as const, request };
    return 'sessionId' in query
      ? { session: await sessions.get(caller, query.sessionId) }
      : { sessions: await sessions.list(caller, query.address) };
  });
  serve(server, web.paymentSessions.close, ({ user, query, request }) =>
    sessions.close({ user, method: 'DELETE', request }, query.sessionId),
  );
  serve(server, web.paymentSessions.spend, ({ body }) => sessions.spend(body));
}
