import { z } from 'zod';
import { timestamp, wholeQuery } from '../common.ts';
import type { Auth, Service } from '../endpoint.ts';
import { needed, tooLong } from '../fields.ts';
import { EVM_ADDRESS, USD_AMOUNT } from '../forms.ts';

/** What the endpoints between agents have in common: the backend's, and web's that pass the same paths on. */
export const base = <A extends Auth>(service: Service, auth: A) =>
  ({ service, auth, tag: 'Underground', failure: 'Internal server error' }) as const;

export const AGENT = 'agentId required';
export const BAD_KEY = 'Invalid Idempotency-Key';
export const KEY_USED = 'Idempotency key was used for another request';
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
export const address = z.string({ error: 'Invalid address' }).regex(EVM_ADDRESS, 'Invalid address');
export const amount = (message: string) => z.string({ error: message }).regex(USD_AMOUNT, message);
export const limit = wholeQuery(50, 1, 200);
export const party = { fromAgentId: z.string(), toAgentId: z.string(), createdAt: timestamp };
