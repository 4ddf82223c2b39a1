import { z } from 'zod';
import { timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { addressParameter } from './wallet.ts';

export const get = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/wallet/ledger',
  auth: 'optional',
  tag: 'Payments',
  summary:
    'Balance of an address on the platform, for its owner, an administrator, or with a signature by the address (headers x-wallet-signature, x-wallet-timestamp)',
  query: z.object({ address: addressParameter, limit: wholeQuery(50, 1, 200) }),
  reply: z.object({
    address: z.string(),
    balance: z.string().describe('US dollars'),
    available: z.string().describe('Without what payment sessions hold'),
    owed: z
      .string()
      .optional()
      .describe('Promised by payments and splits, and not paid out yet; no part of the balance'),
    entries: z.array(
      z.object({
        id: z.string(),
        kind: z.string(),
        amount: z.string().describe('Negative: paid'),
        balance: z.string().describe('After it'),
        timestamp,
      }),
    ),
  }),
  errors: {
    400: ['Missing address parameter', 'Invalid address'],
    401: ['Unauthorized'],
    503: ['Verification unavailable'],
  },
});
