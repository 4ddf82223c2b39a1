import { z } from 'zod';
import { timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { EVM_ADDRESS } from '../forms.ts';

/** Wallets, their stablecoin balances and their transfers. */

const TAG = 'Wallets';
const INVALID_ACTION = 'Invalid action. Use: create, get_seed, or export_seed';

export const evmAddress = z.string().regex(EVM_ADDRESS, 'Invalid address');

export const addressParameter = z
  .string({ error: 'Missing address parameter' })
  .min(1, 'Missing address parameter')
  .pipe(evmAddress);

const token = z.object({ address: z.string(), name: z.string(), symbol: z.string(), balance: z.string() });

export const stablecoinBalance = z.object({
  address: z.string(),
  chain: z.string(),
  chainId: z.number(),
  testnet: z.boolean(),
  totalUsd: z.string().describe('The sum of all tokens, each worth one dollar, rounded down to the cent'),
  primaryToken: token.extend({ decimals: z.number() }).nullable(),
  allTokens: z.array(token),
});

const userWallet = z.object({
  address: z.string(),
  balance: z.string().describe('US dollars in stablecoins on the chain; in the ledger, when no chain is configured'),
  network: z.string(),
  hasWallet: z.literal(true),
  createdAt: timestamp,
});

const noWallet = z.object({
  address: z.null(),
  balance: z.string(),
  network: z.string(),
  hasWallet: z.literal(false),
  message: z.string(),
});

const custody = z.object({
  agenticWallet: z.object({ status: z.string(), projectId: z.string().nullable(), features: z.array(z.string()) }),
  instructions: z.string(),
});

export const get = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/wallet',
  auth: 'optional',
  tag: TAG,
  summary: 'Stablecoin balances of an address, or the own wallet',
  query: z.object({ address: addressParameter.optional() }),
  reply: z.union([stablecoinBalance, custody, userWallet, noWallet]),
  errors: {
    400: ['Missing address parameter', 'Invalid address'],
    401: ['Unauthorized'],
    500: ['Chain RPC not configured', 'Failed to fetch balance'],
  },
});

export const post = endpoint({
  service: 'web',
  method: 'POST',
  path: '/api/wallet',
  auth: 'session',
  tag: TAG,
  summary: 'Create the own wallet, or ask about its seed',
  body: z.object(
    { action: z.enum(['create', 'get_seed', 'export_seed'], { error: INVALID_ACTION }) },
    { error: INVALID_ACTION },
  ),
  reply: z.union([
    z.object({ address: z.string(), network: z.string(), message: z.string() }),
    z.object({ address: z.string(), network: z.string(), createdAt: timestamp, warning: z.string() }),
  ]),
  errors: {
    400: [INVALID_ACTION, 'Wallet already exists'],
    401: ['Unauthorized'],
    403: ['Seed export is disabled'],
    404: ['No wallet found'],
    429: ['Too many wallets (max <n>)'],
  },
});

export const getAddress = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/wallet/address',
  auth: 'optional',
  tag: TAG,
  summary: 'Address of the own wallet',
  reply: z.union([
    z.object({ authenticated: z.literal(true), address: z.string() }),
    z.object({ authenticated: z.literal(false), needsAuth: z.literal(true), message: z.string() }),
    z.object({ authenticated: z.literal(true), address: z.null(), error: z.string(), setup: z.string() }),
  ]),
});

export const create = endpoint({
  service: 'web',
  method: 'POST',
  path: '/api/wallet/create',
  auth: 'session',
  tag: TAG,
  summary: 'Create a wallet in custody of CDP',
  body: z.object(
    {
      email: z
        .string({ error: 'Email required' })
        .trim()
        .min(1, 'Email required')
        .pipe(z.email('Invalid email format')),
    },
    { error: 'Email required' },
  ),
  reply: z.object({
    success: z.literal(true),
    walletAddress: z.string(),
    walletId: z.string(),
    networks: z.array(z.string()),
  }),
  errors: {
    400: ['Email required', 'Invalid email format'],
    401: ['Unauthorized'],
    429: ['Too many wallets (max <n>)'],
    500: ['CDP is not configured', 'Wallet creation failed'],
  },
});

export const getCustody = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/wallet/cdp',
  auth: 'none',
  tag: TAG,
  summary: 'Which custody is offered, and on which chains',
  reply: z.object({
    status: z.enum(['configured', 'not_configured']),
    type: z.enum(['cdp', 'local']),
    supportedChains: z.array(z.string()),
  }),
});

export const add = endpoint({
  service: 'web',
  method: 'POST',
  path: '/api/wallet/cdp',
  auth: 'session',
  tag: TAG,
  summary: 'Add a wallet from a private key, or from a new one; the key is kept sealed and never shown',
  body: z
    .object({
      privateKey: z
        .string({ error: 'Invalid private key' })
        .regex(/^0x[0-9a-fA-F]{64}$/, 'Invalid private key')
        .optional(),
    })
    .optional(),
  reply: z.object({ success: z.literal(true), address: z.string(), network: z.string() }),
  errors: {
    400: ['Invalid private key', 'Wallet already exists'],
    401: ['Unauthorized'],
    429: ['Too many wallets (max <n>)'],
  },
});

export const listTransactions = endpoint({
  service: 'web',
  method: 'GET',
  path: '/api/wallet/transactions',
  auth: 'none',
  tag: TAG,
  summary: 'Stablecoin transfers of an address that is a wallet on this platform',
  query: z.object({ address: addressParameter, limit: wholeQuery(20, 1, 100) }),
  reply: z.object({
    address: z.string(),
    chain: z.string(),
    chainId: z.number(),
    currentBlock: z.number(),
    transactions: z.array(
      z.object({
        hash: z.string(),
        direction: z.enum(['in', 'out', 'self']),
        from: z.string(),
        to: z.string(),
        token: z.string(),
        symbol: z.string(),
        amount: z.string(),
        blockNumber: z.number(),
        timestamp,
      }),
    ),
    note: z.string(),
    explorerUrl: z.string(),
  }),
  errors: {
    400: ['Missing address parameter', 'Invalid address'],
    500: ['Chain RPC not configured', 'Failed to fetch transactions'],
  },
});
