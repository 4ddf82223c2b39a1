import { z } from 'zod';
import { timestamp, wholeQuery } from '../common.ts';
import { endpoint, type Auth, type Service } from '../endpoint.ts';
import { AGENT, agentId, amount, BAD_KEY, base, KEY_USED, limit, line, SPENDING } from './fields.ts';

const RECIPIENTS = 'recipients required';
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

export const splitRoutes = <A extends Auth>(service: Service, auth: A) => ({
  create: endpoint({
    ...base(service, auth),
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
      ...SPENDING,
      400: [
        AGENT,
        RECIPIENTS,
        'Invalid recipient address',
        'Invalid share',
        'Invalid totalAmount',
        'Recipient shares must total 100% (got <n>%)',
        BAD_KEY,
      ],
      409: [KEY_USED],
      429: ['Too many splits (max 1000 a day)'],
    },
  }),
  list: endpoint({
    ...base(service, auth),
    method: 'GET',
    path: '/api/underground/splits',
    summary: 'The user’s splits, newest first; a page ends where it gets large',
    query: z.object({ limit, offset: wholeQuery(0, 0, 1_000_000) }),
    reply: z.object({ splits: z.array(splitReply), count: z.number(), hasMore: z.boolean() }),
  }),
});
