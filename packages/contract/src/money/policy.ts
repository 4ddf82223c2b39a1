import { z } from 'zod';
import { idParams, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import * as web from './paygate.ts';
import { MOST_PAYEES, PAYEE, USD_AMOUNT } from '../forms.ts';

const TAG = 'Payments';
const BAD_LIMIT = 'A limit is an amount in US dollars with at most 6 decimals, or null';
export const BAD_PAYEES = `payees must be a list of at most ${MOST_PAYEES} addresses, or null`;

const BAD_DECISION = 'decision must be approve, deny, paid or failed';

const limit = z.string({ error: BAD_LIMIT }).regex(USD_AMOUNT, BAD_LIMIT).nullable();

const policy = z.object({
  perPayment: limit.describe('Most for one payment'),
  perDay: limit.describe('Most in 24 hours'),
  perPayee: limit.describe('Most to one payee in 24 hours'),
  approvalAbove: limit.describe('Above it, the owner is asked first'),
  payees: z
    .array(z.string().trim().regex(PAYEE, BAD_PAYEES), { error: BAD_PAYEES })
    .max(MOST_PAYEES, BAD_PAYEES)
    .nullable()
    .describe('Only these are paid; null: anybody'),
});

const payment = z.object({
  id: z.string(),
  amount: z.string(),
  currency: z.string(),
  recipient: z.string(),
  endpoint: z.string().nullable(),
  method: z.string(),
  status: z.enum(['approval', 'denied', 'pending', 'paid', 'failed', 'unknown']),
  createdAt: timestamp,
});

const NOT_FOUND = { 401: ['Unauthorized'], 404: ['Agent not found'] } as const;

export const get = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/agents/:id/payment-policy',
  auth: 'session',
  tag: TAG,
  summary: 'What an agent may spend on its own, and what it has spent of that',
  params: idParams,
  reply: policy.extend({ spent: z.string().describe('In the last 24 hours, with what is under way') }),
  errors: NOT_FOUND,
});

export const put = endpoint({
  service: 'web',
  method: 'PUT',
  path: '/api/agents/:id/payment-policy',
  // An agent may hold an API key of its owner: it must not set its own limits.
  auth: 'cookie',
  tag: TAG,
  summary: 'Set what an agent may spend on its own; what is left out has no limit',
  params: idParams,
  body: z.object({
    perPayment: policy.shape.perPayment.default(null),
    perDay: policy.shape.perDay.default(null),
    perPayee: policy.shape.perPayee.default(null),
    approvalAbove: policy.shape.approvalAbove.default(null),
    payees: policy.shape.payees.default(null),
  }),
  reply: policy,
  errors: { 400: [BAD_LIMIT, BAD_PAYEES], ...NOT_FOUND },
});

export const listPayments = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/agents/:id/payments',
  auth: 'session',
  tag: TAG,
  summary: 'The newest hundred payments in an agent’s name, those that wait for the owner included',
  params: idParams,
  reply: z.object({ payments: z.array(payment) }),
  errors: NOT_FOUND,
});

export const decidePayment = endpoint({
  service: 'web',
  method: 'POST',
  path: '/api/agents/:id/payments/:paymentId',
  auth: 'cookie',
  tag: TAG,
  summary:
    'Decide upon a payment: approve (it is made at once) or deny one that waits; say whether an unknown one was made',
  params: idParams.extend({ paymentId: z.string() }),
  body: z.object({
    decision: z.enum(['approve', 'deny', 'paid', 'failed'], { error: BAD_DECISION }),
  }),
  reply: z.looseObject({ success: z.boolean(), paymentId: z.string(), status: z.string() }),
  errors: {
    400: [BAD_DECISION, 'Payment was decided before', 'The outcome of the payment is not unknown'],
    401: ['Unauthorized'],
    404: ['Agent not found', 'Payment not found'],
  },
  // Approving makes the payment.
  passesOn: () => [web.post],
});
