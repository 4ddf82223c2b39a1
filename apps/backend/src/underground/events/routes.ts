import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { idempotencyKey } from '../idempotency.ts';
import type { Events } from './service.ts';

export function eventRoutes(server: Server, events: Events): void {
  serve(server, backend.events.list, ({ user, query }) => events.list(user.id, query));
  serve(server, backend.events.get, ({ params }) => events.get(params.id));
  serve(server, backend.events.create, ({ user, body }) => events.create(user.id, body));
  serve(server, backend.events.buyTickets, ({ user, params, body, request }) =>
    events.buy(user.id, params.id, { ...body, key: idempotencyKey(request.headers) }),
  );
}
