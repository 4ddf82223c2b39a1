import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const PAYMENT_METHODS = ['card', '402', 'session'] as const;

export const call = endpoint({
  service: 'web',
  method: 'POST',
  path: '/api/v1/gateway',
  auth: 'optional',
  tag: 'Payments',
  summary:
    'Call a plugin and pay for it: headers X-Plugin-Id, X-Payment-Method (card, 402, session), X-Session-Id, X-Payment-Voucher. `agent` is the signed-in payer’s main agent; a payer without one gets one call of a model',
  body: z.looseObject({ plugin: z.string().optional().describe('Unless the header X-Plugin-Id names it') }),
  reply: z.object({
    plugin: z.string(),
    result: z.unknown(),
    timestamp,
    payment: z.object({ method: z.enum(PAYMENT_METHODS), receipt: z.string() }),
  }),
  errors: {
    400: ['unknown_plugin', 'unknown_payment_method', 'prompt required', 'prompt too long (max <n> characters)'],
    402: ['payment_required', 'session_required', 'session_invalid', 'voucher_required', 'insufficient_balance'],
    502: ['no_plugin', 'plugin_failed'],
    503: ['payment_unavailable'],
  },
});
