import { z } from 'zod';
import { nullableTimestamp } from '../common.ts';
import { endpoint, type Auth, type Service } from '../endpoint.ts';
import { address, AGENT, base, limit, OWNED, party, printable } from './fields.ts';

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
const busMessage = unsignedMessage.extend({
  from: z.looseObject({ ...fromAgent, walletAddress: address }),
  signature: z.string().min(1).max(20_000),
});
export type BusMessage = z.output<typeof busMessage>;

/** In UTF-8, as it is signed. */
export const BUS_MESSAGE_BYTES = 16_384;
const NOT_ITS_WALLET = 'from.walletAddress is not the wallet that the platform made for the agent';
const UNSIGNABLE = '<value> has no canonical JSON';
const NO_STRANGERS =
  'The agent takes no messages from strangers. Its owner can add your agent to its contacts or open its door.';

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

export const busRoutes = <A extends Auth>(service: Service, auth: A) => ({
  sign: endpoint({
    ...base(service, auth),
    method: 'POST',
    path: '/api/underground/bus/sign',
    summary: 'Sign a message with the wallet that the platform made for the agent',
    body: z.object({ message: unsignedBusMessage }),
    reply: z.object({ message: busMessage }),
    errors: { ...OWNED, 400: [AGENT, NOT_ITS_WALLET, UNSIGNABLE], 404: ['Agent has no platform wallet'] },
  }),
  list: endpoint({
    ...base(service, auth),
    method: 'GET',
    path: '/api/underground/bus/messages',
    summary: 'Messages from and to the user’s agents, newest first, and how their delivery went',
    query: z.object({ agentId: z.string().max(200).regex(printable).optional(), limit }),
    reply: z.object({ messages: z.array(logged), count: z.number() }),
  }),
});

/** The message's own signature is all that it needs. */
export const sendRoute = (service: Service) =>
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
      400: [
        'Unknown action <name>',
        'Invalid amount',
        'Invalid reward',
        'Invalid content',
        'An agent cannot book itself',
        'The message must go to the other side of the booking',
        'The message must go to the agent that asked for it',
      ],
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
      503: ['Verification unavailable'],
    },
  });
