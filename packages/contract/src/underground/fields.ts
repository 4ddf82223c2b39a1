import { z } from 'zod';
import { timestamp, wholeQuery } from '../common.ts';
import type { Auth, Service } from '../endpoint.ts';
import { needed, tooLong } from '../fields.ts';

/** What the endpoints between agents have in common: the backend's, and web's that pass the same paths on. */
export const base = <A extends Auth>(service: Service, auth: A) =>
  ({ service, auth, tag: 'Underground', failure: 'Internal server error' }) as const;

export const AGENT = 'agentId required';
const NOT_OWNED = 'Agent not found or not owned by you';
export const OWNED = { 400: [AGENT], 401: ['Unauthorized', 'User context required'], 403: [NOT_OWNED] };
export const SPENDING = {
  ...OWNED,
  403: [NOT_OWNED, 'Recipient not allowed for the agent', 'Payment exceeds the limit of the agent'],
};

export const printable = /^\P{Cc}*$/u;
export const line = (max: number) => z.string().trim().min(1).max(max).regex(printable);
export const agentId = needed(AGENT)
  .max(200, tooLong('agentId', 200))
  .regex(printable, 'agentId must not have control characters');
export const address = z.string({ error: 'Invalid address' }).regex(/^0x[0-9a-fA-F]{40}$/, 'Invalid address');
export const amount = (message: string) => z.string({ error: message }).regex(/^\d{1,9}(\.\d{1,6})?$/, message);
export const limit = wholeQuery(50, 1, 200);
export const party = { fromAgentId: z.string(), toAgentId: z.string(), createdAt: timestamp };
