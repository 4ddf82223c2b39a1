import { z } from 'zod';
import { nullableTimestamp, timestamp, wholeQuery } from '../common.ts';
import { endpoint, type Auth, type Service } from '../endpoint.ts';
import { needed, tooLong } from '../fields.ts';

/** The backend's routes; web passes the same paths on, with the session's user as the context. */

const AGENT = 'agentId required';
const RECIPIENTS = 'recipients required';
const NOT_OWNED = 'Agent not found or not owned by you';
const printable = /^\P{Cc}*$/u;
const line = (max: number) => z.string().trim().min(1).max(max).regex(printable);
const agentId = needed(AGENT)
  .max(200, tooLong('agentId', 200))
  .regex(printable, 'agentId must not have control characters');
const address = z.string({ error: 'Invalid address' }).regex(/^0x[0-9a-fA-F]{40}$/, 'Invalid address');
const amount = (message: string) => z.string({ error: message }).regex(/^\d{1,9}(\.\d{1,6})?$/, message);
const limit = wholeQuery(50, 1, 200);

export const BUS_VERSION = '1.0';

/** Unknown fields stay: they are part of what was signed. */
const unsignedMessage = z.looseObject({
  version: z.literal(BUS_VERSION),
  messageId: z.string().min(1).max(200).regex(printable),
  timestamp: z.iso.datetime({ offset: true }),
  to: z.looseObject({ agentId: z.string().min(1).max(200).regex(printable) }),
  action: z.string().regex(/^[A-Za-z][A-Za-z0-9_.:-]{0,99}$/),
  payload: z.unknown().refine((value) => value !== undefined, 'payload is required'),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
const fromAgent = { agentId: z.string().min(1).max(200).regex(printable) };
const unsignedBusMessage = unsignedMessage.extend({
  from: z.looseObject({ ...fromAgent, walletAddress: address.optional() }),
});
export type UnsignedBusMessage = z.output<typeof unsignedBusMessage>;
export const busMessage = unsignedMessage.extend({
  from: z.looseObject({ ...fromAgent, walletAddress: address }),
  signature: z.string().min(1).max(20_000),
});
export type BusMessage = z.output<typeof busMessage>;

/** In UTF-8, as it is signed. */
export const BUS_MESSAGE_BYTES = 16_384;
const NO_STRANGERS =
  'The agent takes no messages from strangers. Its owner can add your agent to its contacts or open its door.';

const doorFields = {
  open: z.boolean({ error: 'open must be true or false' }).describe('Anybody may write, within the budget'),
  contacts: z
    .array(z.string().min(1).max(200).regex(printable), { error: 'contacts must be a list of agent ids' })
    .max(200, 'Too many contacts (max 200)')
    .describe('Agents that may write although the door is closed'),
  messagesPerDay: z
    .int('messagesPerDay must be a whole number')
    .min(0)
    .max(10_000)
    .describe('From all others together'),
  messagesPerSender: z
    .int('messagesPerSender must be a whole number')
    .min(0)
    .max(10_000)
    .describe('From the agents of one other user'),
};
const door = z.object({ agentId: z.string(), ...doorFields, usedToday: z.number() });
export type AgentDoor = z.output<typeof door>;

const party = { fromAgentId: z.string(), toAgentId: z.string(), createdAt: timestamp };
const logged = z.object({
  id: z.string(),
  messageId: z.string(),
  action: z.string(),
  ...party,
  direction: z.enum(['sent', 'received', 'both']),
  payload: z.unknown(),
  status: z.enum(['queued', 'delivered', 'failed']),
  attempts: z.number(),
  error: z.string().nullable(),
  deliveredAt: nullableTimestamp,
});
export type LoggedMessage = z.output<typeof logged>;

const wallet = z.object({
  address: z.string(),
  agentId: z.string(),
  kind: z.enum(['platform', 'own', 'added', 'cdp']),
  createdAt: timestamp,
});
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

/** Each is an account in the ledger and a transfer of its own. */
const SPLIT_RECIPIENTS = 100;

const splitReply = z.object({
  success: z.literal(true),
  splitId: z.string(),
  status: z.literal('completed'),
  name: z.string(),
  agentId: z.string(),
  totalAmount: z.string(),
  payout: z.enum(['onchain', 'accrued']),
  recipients: z.array(
    z.object({
      address: z.string(),
      share: z.number(),
      amount: z.string(),
      status: z.enum(['accrued', 'pending', 'sent', 'paid']),
      txHash: z.string().nullable(),
    }),
  ),
  transactions: z.array(z.string()),
  createdAt: timestamp,
});
export type SplitReply = z.output<typeof splitReply>;

const routes = <A extends Auth>(service: Service, auth: A) => {
  const base = { service, auth, tag: 'Underground', failure: 'Internal server error' } as const;
  const owned = { 400: [AGENT], 401: ['Unauthorized', 'User context required'], 403: [NOT_OWNED] };
  const spending = {
    ...owned,
    403: [NOT_OWNED, 'Recipient not allowed for the agent', 'Payment exceeds the limit of the agent'],
  };
  return {
    createAgentWallet: endpoint({
      ...base,
      method: 'POST',
      path: '/api/underground/wallets',
      summary: 'The agent’s wallet, made by the platform; with `address` and `proof`, an own one',
      body: z.object({ agentId, address: address.optional(), proof: z.string().max(20_000).optional() }),
      reply: wallet,
      status: 201,
      errors: { ...owned, 400: [AGENT, 'Invalid address'], 401: [...owned[401], 'Invalid wallet proof'] },
    }),
    listAgentWallets: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/wallets',
      summary: 'The wallets of the user’s agents, with what the platform’s ledger holds for them',
      reply: z.object({
        wallets: z.array(wallet.extend({ available: z.string(), owed: z.string() })),
        count: z.number(),
      }),
    }),
    getAgentWalletBalance: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/wallets/:address/balance',
      summary: 'USDC of an address: on the L2 network, or in the ledger where no network is configured',
      params: z.object({ address }),
      reply: z.object({ address: z.string(), balance_usdc: z.number() }),
      errors: { 400: ['Invalid address'], 404: ['Wallet not found'], 503: ['Chain unavailable'] },
    }),
    signBusMessage: endpoint({
      ...base,
      method: 'POST',
      path: '/api/underground/bus/sign',
      summary: 'Sign a message with the wallet that the platform made for the agent',
      body: z.object({ message: unsignedBusMessage }),
      reply: z.object({ message: busMessage }),
      errors: { ...owned, 404: ['Agent has no platform wallet'] },
    }),
    getAgentDoor: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/doors/:agentId',
      summary:
        'Whose messages an agent takes beside those of its owner’s own agents; nobody’s unless its owner says so',
      params: z.object({ agentId }),
      reply: door,
      errors: owned,
    }),
    setAgentDoor: endpoint({
      ...base,
      method: 'PUT',
      path: '/api/underground/doors/:agentId',
      summary: 'Open or close an agent’s door to strangers, name its contacts, set the budget of a day',
      params: z.object({ agentId }),
      body: z.object(doorFields).partial(),
      reply: door,
      errors: owned,
    }),
    listBusMessages: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/bus/messages',
      summary: 'Messages from and to the user’s agents, newest first, and how their delivery went',
      query: z.object({ agentId: z.string().max(200).regex(printable).optional(), limit }),
      reply: z.object({ messages: z.array(logged), count: z.number() }),
    }),
    listBookings: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/bookings',
      summary: 'Bookings that the user’s agents negotiate, newest first',
      query: z.object({ limit }),
      reply: z.object({
        bookings: z.array(
          z.object({
            id: z.string(),
            ...party,
            talentName: z.string(),
            amount: z.string(),
            status: z.enum(['offered', 'countered', 'accepted', 'declined']),
            lastBy: z.string(),
            updatedAt: timestamp,
          }),
        ),
        count: z.number(),
      }),
    }),
    listAmplifications: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/amplify',
      summary: 'Amplification requests from and to the user’s agents, newest first',
      query: z.object({ limit }),
      reply: z.object({
        requests: z.array(
          z.object({
            id: z.string(),
            ...party,
            content: z.string(),
            reward: z.string(),
            status: z.enum(['requested', 'accepted', 'done']),
            updatedAt: timestamp,
          }),
        ),
        count: z.number(),
      }),
    }),
    listEvents: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/events',
      summary: 'Events of the user’s agents, the latest date first',
      query: z.object({ limit: wholeQuery(200, 1, 500), offset: wholeQuery(0, 0, 1_000_000) }),
      reply: z.array(event),
    }),
    getEvent: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/events/:id',
      summary: 'One event, for whoever wants a ticket',
      params: z.object({ id: z.string() }),
      reply: event,
      errors: { 404: ['Event not found'] },
    }),
    createEvent: endpoint({
      ...base,
      method: 'POST',
      path: '/api/underground/events',
      summary: 'Announce an event of an agent',
      body: z.object({
        agentId,
        name: line(200),
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
      errors: owned,
    }),
    buyTickets: endpoint({
      ...base,
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
        ...spending,
        402: ['Insufficient balance'],
        404: ['Event not found'],
        409: ['Not enough tickets left', 'Idempotency key was used for another request'],
      },
    }),
    createSplit: endpoint({
      ...base,
      method: 'POST',
      path: '/api/underground/splits',
      summary:
        'Divide an amount among recipients: owed in the ledger, and paid on-chain when the agent’s wallet holds it. The header Idempotency-Key makes a repeat safe',
      body: z.object({
        agentId,
        name: line(200),
        totalAmount: amount('Invalid totalAmount').refine((text) => Number(text) > 0, 'Invalid totalAmount'),
        recipients: z
          .array(
            z.object({
              address: z.string({ error: 'Invalid recipient address' }),
              share: z.number({ error: 'Invalid share' }).positive('Invalid share').max(100, 'Invalid share'),
            }),
            { error: RECIPIENTS },
          )
          .min(1, RECIPIENTS)
          .max(SPLIT_RECIPIENTS, `Too many recipients (max ${SPLIT_RECIPIENTS})`),
      }),
      reply: splitReply,
      errors: {
        ...spending,
        400: [AGENT, RECIPIENTS, 'Invalid recipient address', 'Recipient shares must total 100% (got n%)'],
        409: ['Idempotency key was used for another request'],
      },
    }),
    listSplits: endpoint({
      ...base,
      method: 'GET',
      path: '/api/underground/splits',
      summary: 'The user’s splits, newest first; a page ends where it gets large',
      query: z.object({ limit, offset: wholeQuery(0, 0, 1_000_000) }),
      reply: z.object({ splits: z.array(splitReply), count: z.number(), hasMore: z.boolean() }),
    }),
  };
};

/** The message's own signature is all that it needs. */
const send = (service: Service) =>
  endpoint({
    service,
    method: 'POST',
    path: '/api/underground/bus/send',
    auth: 'none',
    tag: 'Underground',
    summary:
      'Send a signed message to an agent. BOOKING_* and AMPLIFY_* actions are negotiated first. Delivered in the background; a repeat delivers nothing',
    body: busMessage,
    reply: z.object({
      success: z.literal(true),
      messageId: z.string(),
      bookingId: z.string().optional(),
      requestId: z.string().optional(),
    }),
    failure: 'Delivery failed',
    errors: {
      401: ['Invalid message signature'],
      403: [NO_STRANGERS],
      404: ['Recipient agent not found', 'Booking not found', 'Amplification not found'],
      409: ['Waiting for the other side', 'Booking is <status>', 'Amplification is <status>'],
      413: ['Message too large (max 16 KB)'],
      429: [
        'Daily message limit reached (<n> on your plan)',
        'The agent takes <n> messages a day from one sender',
        'The agent takes <n> messages a day from others',
      ],
      500: ['Delivery failed'],
    },
  });

export const underground = { ...routes('backend', 'userContext'), sendBusMessage: send('backend') };
export const webUnderground = { ...routes('web', 'session'), sendBusMessage: send('web') };
