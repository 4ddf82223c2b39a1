import { z } from 'zod';
import { timestamp, wholeQuery } from '../common.ts';
import { endpoint, type Auth, type Service } from '../endpoint.ts';
import { AGENT, agentId, amount, BAD_KEY, base, KEY_USED, line, OWNED, SPENDING } from './fields.ts';
import { EVENT_NAME_LENGTH } from '../forms.ts';

const event = z.object({
  id: z.number(),
  agent_id: z.string(),
  name: z.string(),
  description: z.string(),
  venue: z.string(),
  event_date: timestamp,
  ticket_price_usdc: z.string(),
  total_tickets: z.number(),
  tickets_sold: z.number(),
});
export type UndergroundEvent = z.output<typeof event>;

export const eventRoutes = <A extends Auth>(service: Service, auth: A) => ({
  list: endpoint({
    ...base(service, auth),
    method: 'GET',
    path: '/api/underground/events',
    summary: 'Events of the user’s agents, the latest date first',
    query: z.object({ limit: wholeQuery(200, 1, 500), offset: wholeQuery(0, 0, 1_000_000) }),
    reply: z.array(event),
  }),
  get: endpoint({
    ...base(service, auth),
    method: 'GET',
    path: '/api/underground/events/:id',
    summary: 'One event, for whoever wants a ticket',
    params: z.object({ id: z.string() }),
    reply: event,
    errors: { 404: ['Event not found'] },
  }),
  create: endpoint({
    ...base(service, auth),
    method: 'POST',
    path: '/api/underground/events',
    summary: 'Announce an event of an agent',
    body: z.object({
      agentId,
      name: line(EVENT_NAME_LENGTH),
      description: z
        .string()
        .trim()
        .min(1)
        .max(5000)
        .refine((text) => !text.includes('\0'), 'Invalid description'),
      venue: line(300),
      eventDate: z.union([z.iso.datetime({ offset: true }), z.iso.date()], { error: 'Invalid eventDate' }),
      ticketPriceUsdc: amount('Invalid ticketPriceUsdc'),
      totalTickets: z.int().min(1).max(1_000_000_000),
    }),
    reply: event,
    status: 201,
    errors: { ...OWNED, 400: [AGENT, 'Invalid ticketPriceUsdc'], 429: ['Too many events (max 2000)'] },
  }),
});

export const ticketRoutes = <A extends Auth>(service: Service, auth: A) => ({
  buyTickets: endpoint({
    ...base(service, auth),
    method: 'POST',
    path: '/api/underground/events/:id/tickets',
    summary:
      'Buy tickets for an agent, paid from its wallets’ balance in the ledger. The header Idempotency-Key makes a repeat safe',
    params: z.object({ id: z.string() }),
    body: z.object({ agentId, quantity: z.int().min(1).max(1000) }),
    reply: z.object({
      success: z.literal(true),
      ticketId: z.string(),
      eventId: z.number(),
      agentId: z.string(),
      quantity: z.number(),
      totalUsdc: z.string(),
    }),
    status: 201,
    errors: {
      ...SPENDING,
      400: [AGENT, BAD_KEY],
      402: ['Insufficient balance'],
      404: ['Event not found'],
      409: ['Not enough tickets left', KEY_USED],
      429: ['Too many orders for this event (max 1000)'],
    },
  }),
});
