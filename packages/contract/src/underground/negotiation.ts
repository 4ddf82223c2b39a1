import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint, type Auth, type Service } from '../endpoint.ts';
import { base, limit, party } from './fields.ts';

/** A schema, for those who do not build any. */
export type Schema<T> = z.ZodType<T>;

/** Payloads of bus messages that the platform itself reads. Amounts are dollars, as text or number. */

const dollars = (error: string) => z.union([z.string(), z.number()], { error });
const id = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[\x21-\x7e]+$/);

export const bookingOffer = z.object({
  talentName: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .regex(/^\P{Cc}*$/u),
  amount: dollars('Invalid amount'),
});
export const bookingCounter = z.object({ bookingId: id, amount: dollars('Invalid amount') });
export const bookingAnswer = z.object({ bookingId: id });

export const amplifyRequest = z.object({
  content: z
    .string()
    .trim()
    .min(1)
    .max(5000)
    .refine((text) => !text.includes('\0'), 'Invalid content'),
  reward: dollars('Invalid reward'),
});
export const amplifyAnswer = z.object({ requestId: id });

export const negotiationRoutes = <A extends Auth>(service: Service, auth: A) => ({
  listBookings: endpoint({
    ...base(service, auth),
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
    ...base(service, auth),
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
});
