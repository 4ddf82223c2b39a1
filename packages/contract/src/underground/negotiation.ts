import { z } from 'zod';

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
