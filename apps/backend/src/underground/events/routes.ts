import { underground } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import { idempotencyKey } from '../idempotency.ts';
import type { Events } from './service.ts';

export function eventRoutes(server: Server, events: Events): void {
  serve(server, underground.listEvents, ({ user, query }) => events.list(user.id, query));
  serve(server, underground.getEvent, ({ params }) => events.get(params.id));
  serve(server, underground.createEvent, ({ user, body }) => events.create(user.id, body));
  serve(server, underground.buyTickets, ({ user, params, body, request }) =>
    events.buy(user.id, params.id, { ...body, key: idempotencyKey(request.headers) }),
  );
}
