import { z } from 'zod';
import { nullableTimestamp, PLAN_NAMES, planName } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const billing = { service: 'web', tag: 'Billing' } as const;

const UNAUTHORIZED = 'Unauthorized';
const BAD_PLAN = `plan must be one of: ${PLAN_NAMES.join(', ')}`;
const NOT_CONFIGURED = 'Payment processor not configured';
const UNAVAILABLE = 'Payment processor unavailable';

export const get = endpoint({
  ...billing,
  method: 'GET',
  path: '/api/billing',
  auth: 'session',
  summary: 'The own plan and subscription, and what each plan costs',
  reply: z.object({
    plan: planName.nullable(),
    status: z.enum(['active', 'inactive', 'past_due', 'cancelled']),
    renewsAt: nullableTimestamp,
    prices: z.array(
      z.object({
        plan: planName,
        amount: z.number().describe('In whole units of the currency'),
        currency: z.literal('GBP'),
        interval: z.literal('month'),
      }),
    ),
  }),
  errors: { 401: [UNAUTHORIZED] },
});

export const createCheckout = endpoint({
  ...billing,
  method: 'POST',
  path: '/api/billing/checkout',
  auth: 'session',
  summary: "Subscribe to a plan on the card processor's page",
  body: z.object({ plan: z.enum(PLAN_NAMES, { error: BAD_PLAN }) }),
  reply: z.object({ url: z.string(), sessionId: z.string() }),
  errors: {
    400: [BAD_PLAN],
    401: [UNAUTHORIZED],
    409: ['You have a subscription. Change it in the billing portal.'],
    502: [UNAVAILABLE],
    503: [NOT_CONFIGURED],
  },
});

export const createPortal = endpoint({
  ...billing,
  method: 'POST',
  path: '/api/billing/portal',
  auth: 'session',
  summary: "Change or end the subscription on the card processor's page",
  reply: z.object({ url: z.string() }),
  errors: { 401: [UNAUTHORIZED], 404: ['No subscription'], 502: [UNAVAILABLE], 503: [NOT_CONFIGURED] },
});

export const receiveWebhook = endpoint({
  ...billing,
  method: 'POST',
  path: '/api/billing/webhook',
  auth: 'none',
  summary:
    'Events of the card processor, top-ups too, signed in the header billing-signature or Stripe-Signature; each counts once',
  rawBody: true,
  reply: z.object({ received: z.literal(true) }),
  errors: { 400: ['Invalid signature'], 503: [NOT_CONFIGURED] },
});
