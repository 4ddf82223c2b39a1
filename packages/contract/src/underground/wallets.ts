import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint, type Auth, type Service } from '../endpoint.ts';
import { address, AGENT, agentId, base, OWNED } from './fields.ts';

const wallet = z.object({
  address: z.string(),
  agentId: z.string(),
  kind: z.enum(['platform', 'own', 'added', 'cdp']),
  createdAt: timestamp,
});

export const walletRoutes = <A extends Auth>(service: Service, auth: A) => ({
  create: endpoint({
    ...base(service, auth),
    method: 'POST',
    path: '/api/underground/wallets',
    summary: 'The agent’s wallet, made by the platform; with `address` and `proof`, an own one',
    body: z.object({ agentId, address: address.optional(), proof: z.string().max(20_000).optional() }),
    reply: wallet,
    status: 201,
    errors: {
      ...OWNED,
      400: [AGENT, 'Invalid address'],
      401: [...OWNED[401], 'Invalid wallet proof'],
      429: ['Too many wallets (max <n>)'],
    },
  }),
  list: endpoint({
    ...base(service, auth),
    method: 'GET',
    path: '/api/underground/wallets',
    summary: 'The wallets of the user’s agents, with what the platform’s ledger holds for them',
    reply: z.object({
      wallets: z.array(wallet.extend({ available: z.string(), owed: z.string() })),
      count: z.number(),
    }),
  }),
  getBalance: endpoint({
    ...base(service, auth),
    method: 'GET',
    path: '/api/underground/wallets/:address/balance',
    summary: 'USDC of an address: on the L2 network, or in the ledger where no network is configured',
    params: z.object({ address }),
    reply: z.object({ address: z.string(), balance_usdc: z.number() }),
    errors: { 400: ['Invalid address'], 404: ['Wallet not found'], 503: ['Chain unavailable'] },
  }),
});
