import { z } from 'zod';
import { nullableTimestamp, success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { CONFIRM_FIRST } from './fields.ts';

const account = { service: 'web', tag: 'Settings', auth: 'cookie' } as const;

/** Days between closing an account and erasing it. */
export const GRACE_DAYS = 7;

export const CLOSING_REFUSALS = {
  subscription: 'Cancel your subscription first',
  payment: 'A payment of yours is under way: wait until it has ended',
  administrator: 'You are the only administrator: make somebody else one first',
} as const;

const NOT_CLOSED = 'This account is not closed';

export const getClosing = endpoint({
  ...account,
  method: 'GET',
  path: '/api/account',
  summary: 'What closing the account would end, and whether it is closed already',
  reply: z.object({
    eraseAt: nullableTimestamp.describe('Set while the account is closed'),
    graceDays: z.number(),
    agents: z.number(),
    tasks: z.number(),
    keys: z.number(),
    credits: z.number(),
    wallets: z.array(z.object({ address: z.string(), balance: z.string().describe('US dollars on the platform') })),
    refusal: z.enum(['subscription', 'payment', 'administrator']).nullable(),
  }),
  errors: { 401: ['Unauthorized'] },
});

export const download = endpoint({
  ...account,
  method: 'GET',
  path: '/api/account/export',
  summary: 'Everything that is yours, as a tar archive: NDJSON files, and the files of agents that run',
  produces: 'application/x-tar',
  errors: {
    401: ['Unauthorized'],
    403: [CONFIRM_FIRST],
    429: ['An export of yours is under way', 'Too many requests'],
  },
});

export const close = endpoint({
  ...account,
  method: 'POST',
  path: '/api/account/close',
  summary: 'Close the account: agents stop, keys and sessions end; a week later it is erased',
  body: z.object({
    giveUpMoney: z.boolean().default(false).describe('What the wallets have on the platform is given up'),
  }),
  reply: z.object({ eraseAt: timestamp }),
  errors: {
    401: ['Unauthorized'],
    403: [CONFIRM_FIRST],
    409: [
      ...Object.values(CLOSING_REFUSALS),
      'Your wallets have <amount> USD here: send it away first, or give it up',
      'This account is closed already',
    ],
  },
});

export const keep = endpoint({
  ...account,
  method: 'POST',
  path: '/api/account/keep',
  summary: 'Keep an account that was closed; what was stopped stays so until it is started again',
  reply: success,
  errors: { 401: ['Unauthorized'], 409: [NOT_CLOSED] },
});
