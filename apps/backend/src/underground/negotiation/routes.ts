import { backend } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Negotiation } from './service.ts';

export function negotiationRoutes(server: Server, negotiation: Negotiation): void {
  serve(server, backend.negotiation.listBookings, ({ user, query }) => negotiation.bookings(user.id, query.limit));
  serve(server, backend.negotiation.listAmplifications, ({ user, query }) =>
    negotiation.requests(user.id, query.limit),
  );
}
