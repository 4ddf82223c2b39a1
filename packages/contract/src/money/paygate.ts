import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { MOST_PAYMENT_USD } from '../forms.ts';

const TAG = 'Payments';
const INVALID_ACTION = 'Invalid action. Use: join-colony, fitness, pricing, endpoints, or pay';

export const get = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/paygate',
  auth: 'none',
  tag: TAG,
  summary: 'Is the payment gateway there?',
  reply: z.looseObject({ gateway: z.string(), status: z.string() }),
  errors: { 503: ['Payment gateway unreachable'] },
});

export const post = endpoint({
  service: 'web',
  method: 'POST',
  path: '/api/paygate',
  auth: 'optional',
  tag: TAG,
  summary:
    'Actions of the payment gateway. join-colony: agentId, walletAddress. fitness, pricing: agentId. endpoints: for anybody. pay: agentId, amount, recipient, currency, endpoint, method',
  // The service looks at one field after the other: the order of the checks is part of the contract.
  body: z
    .looseObject({
      action: z.unknown().optional(),
      agentId: z.unknown().optional(),
      walletAddress: z.unknown().optional(),
      amount: z.unknown().optional().describe(`A number above 0, at most ${MOST_PAYMENT_USD}`),
      currency: z.unknown().optional().describe('USDC unless said'),
      recipient: z.unknown().optional().describe('An EVM or Solana address'),
      endpoint: z.unknown().optional(),
      method: z.unknown().optional().describe('`default` unless said'),
    })
    .catch({}),
  reply: z.looseObject({}),
  errorFields: { success: false },
  failure: 'x402 gateway error',
  errors: {
    400: [
      'agentId required',
      'walletAddress required',
      'Invalid address',
      'Invalid amount',
      `Amount exceeds $${MOST_PAYMENT_USD} limit. Contact support for higher limits.`,
      'Recipient required',
      'Invalid recipient address',
      'Unsupported currency',
      'Invalid method',
      'Invalid endpoint',
      INVALID_ACTION,
    ],
    401: ['Authentication required'],
    402: ['Payment required', 'Insufficient balance'],
    403: ['Payment exceeds the limit of the agent', 'Recipient not allowed for the agent'],
    404: ['Agent not found'],
    500: ['x402 gateway error'],
    502: ['Payment gateway failed'],
    503: ['Payment gateway unreachable'],
  },
});

export { INVALID_ACTION as INVALID_PAYGATE_ACTION };
