import { z } from 'zod';
import { needed, tooLong } from '../fields.ts';
import { endpoint } from '../endpoint.ts';
import { addressParameter, evmAddress } from './wallet.ts';

const TAG = 'Payments';
const PATH = '/api/wallet/sessions';
const MISSING = 'Missing address or deposit';
const MISSING_ID = 'Missing sessionId';
const UNAUTHORIZED = { 401: ['Unauthorized'], 503: ['Verification unavailable'] } as const;

const usd = z.string().describe('US dollars');
const moment = z.number().describe('Unix milliseconds');
const decimal = z.union([z.string(), z.number()], { error: 'Invalid amount' });

export const paymentSession = z.object({
  id: z.string(),
  userAddress: z.string(),
  deposit: usd,
  spent: usd,
  remaining: usd,
  vouchers: z
    .array(z.object({ plugin: z.string(), timestamp: moment, amount: usd }))
    .describe('The newest 200, the oldest of them first'),
  status: z.enum(['active', 'settling', 'closed']),
  createdAt: moment,
  lastSettledAt: moment.describe('Vouchers before it are settled; createdAt until there are any'),
  sandbox: z.literal(true).optional().describe('Play money'),
});

export const open = endpoint({
  service: 'web',
  method: 'POST',
  path: PATH,
  auth: 'optional',
  tag: TAG,
  summary: 'Set money aside for vouchers; an address has one active session',
  body: z.object(
    {
      address: needed(MISSING).pipe(evmAddress),
      deposit: z
        .union([z.string(), z.number()], { error: (issue) => (issue.input == null ? MISSING : 'Invalid deposit') })
        .refine((deposit) => deposit !== '', MISSING),
    },
    { error: MISSING },
  ),
  status: 201,
  reply: z.object({ session: paymentSession, note: z.string().optional() }),
  errors: {
    400: [MISSING, 'Invalid address', 'Invalid deposit', 'Minimum deposit is $1.00', 'Maximum deposit is $100.00'],
    402: ['Insufficient balance'],
    ...UNAUTHORIZED,
  },
});

export const list = endpoint({
  service: 'web',
  method: 'GET',
  path: PATH,
  auth: 'optional',
  tag: TAG,
  summary: 'One session by sessionId, or the newest hundred of an address',
  query: z.union([z.object({ sessionId: z.string().min(1) }), z.object({ address: addressParameter })], {
    error: (issue) =>
      (issue.input as { address?: unknown } | undefined)?.address ? 'Invalid address' : 'Missing address parameter',
  }),
  reply: z.union([z.object({ session: paymentSession }), z.object({ sessions: z.array(paymentSession) })]),
  errors: { 400: ['Missing address parameter', 'Invalid address'], 404: ['Session not found'], ...UNAUTHORIZED },
});

export const close = endpoint({
  service: 'web',
  method: 'DELETE',
  path: PATH,
  auth: 'optional',
  tag: TAG,
  summary: 'Settle what vouchers have spent, and return the rest',
  query: z.object({ sessionId: needed(MISSING_ID) }),
  reply: z.object({ success: z.literal(true), returned: usd, settled: usd }),
  errors: { 400: [MISSING_ID], 404: ['Session not found'], ...UNAUTHORIZED },
});

export const spend = endpoint({
  service: 'web',
  method: 'POST',
  path: `${PATH}/voucher`,
  auth: 'none',
  tag: TAG,
  summary: 'Spend from a session with a voucher that its address signed (EIP-712)',
  body: z.object(
    {
      sessionId: needed(MISSING_ID),
      userAddress: needed('Missing userAddress').pipe(evmAddress),
      plugin: needed('Missing plugin').max(100, tooLong('Plugin', 100)),
      amount: decimal.optional().describe('US dollars; the price of the plugin when left out'),
      nonce: z.string({ error: 'Missing nonce' }).regex(/^0x[0-9a-fA-F]{64}$/, 'Invalid nonce'),
      signature: z.string({ error: 'Missing signature' }).min(1, 'Missing signature'),
    },
    { error: MISSING_ID },
  ),
  reply: z.object({
    success: z.literal(true),
    session: z.object({ id: z.string(), spent: usd, remaining: usd, pendingVouchers: z.number() }),
    voucher: z.object({ amount: usd, plugin: z.string(), nonce: z.string() }),
  }),
  errors: {
    400: [
      MISSING_ID,
      'Missing userAddress',
      'Invalid address',
      'Missing plugin',
      'Missing amount',
      'Invalid amount',
      'Missing nonce',
      'Invalid nonce',
      'Missing signature',
      'Address mismatch',
      'Session is closed',
      'Session is settling',
      'Nonce already used',
      'Insufficient balance',
    ],
    401: ['Invalid signature'],
    404: ['Session not found'],
    503: ['Verification unavailable'],
  },
});
