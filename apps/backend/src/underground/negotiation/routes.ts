import { underground } from '@troupe/contract';
import { serve, type Server } from '@troupe/kernel';
import type { Negotiation } from './service.ts';

export function negotiationRoutes(server: Server, negotiation: Negotiation): void {
  serve(server, underground.listBookings, ({ user, query }) => negotiation.bookings(user.id, query.limit));
  serve(server, underground.listAmplifications, ({ user, query }) => negotiation.requests(user.id, query.limit));
}
