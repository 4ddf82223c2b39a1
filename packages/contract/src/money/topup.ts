import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { EVM_ADDRESS } from '../forms.ts';

const TAG = 'Payments';
const INVALID_AMOUNT = 'Invalid amount. Choose: 500, 1000, 2500, 5000 (cents)';
const ADDRESS_REQUIRED = 'Valid wallet address required';
const NOT_CONFIGURED = 'Payment processor not configured';

export const start = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/wallet/top-up',
  auth: 'none',
  tag: TAG,
  summary: 'Open a checkout at the card processor that credits an address',
  query: z.object({
    amount: z.enum(['500', '1000', '2500', '5000'], { error: INVALID_AMOUNT }).default('1000').transform(Number),
    address: z.string({ error: ADDRESS_REQUIRED }).regex(EVM_ADDRESS, ADDRESS_REQUIRED),
  }),
  reply: z.object({ url: z.string(), sessionId: z.string() }),
  failure: 'Checkout failed',
  errors: { 400: [INVALID_AMOUNT, ADDRESS_REQUIRED], 500: [NOT_CONFIGURED, 'Checkout failed'] },
});

export const receive = endpoint({
  service: 'web',
  method: 'POST',
  path: '/api/wallet/top-up',
  auth: 'none',
  tag: TAG,
  summary:
    'What the card processor reports, signed in the header billing-signature or Stripe-Signature: as /api/billing/webhook',
  rawBody: true,
  reply: z.object({ received: z.literal(true) }),
  failure: 'Processing failed',
  errors: { 400: ['Invalid signature'], 500: [NOT_CONFIGURED, 'Processing failed'] },
});
