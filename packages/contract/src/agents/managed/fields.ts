import { z } from 'zod';
import { AGENT_NOT_FOUND, AGENT_STOPPED } from '../fields.ts';

/** What the endpoints of Anthropic's Managed Agents have in common: their shape over our own agents, with any model. */

const every = {
  service: 'backend',
  auth: 'internalOrKey',
  tag: 'Managed agents',
  pages: true,
  errorShape: 'anthropic',
} as const;

export const NOT_YOURS = 'An API key of a user is needed';
const NO_PAGE = 'page must be one that was given';
export const REACH_ERRORS = {
  404: [AGENT_NOT_FOUND],
  502: ['Agent is not running'],
  503: [AGENT_STOPPED],
} as const;

const idParam = z.object({ id: z.string().min(1).max(200) });
/** Clients add `beta=true` to every address. A filter that is not there is refused by name: without it there would be more. */
export const anyQuery = z.strictObject({ beta: z.string().optional() });
const LIMIT = 'limit must be a number from 1 to 100';
export const pageQuery = anyQuery.extend({
  limit: z.coerce.number(LIMIT).int(LIMIT).min(1, LIMIT).max(100, LIMIT).default(20),
  page: z.string().max(200).optional(),
});
export const listQuery = pageQuery.extend({ include_archived: z.enum(['true', 'false']).default('false') });
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), next_page: z.string().nullable() });

export const metadata = z
  .record(z.string().min(1).max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 16, 'metadata may have 16 entries');
export const metadataChange = z.record(z.string().min(1).max(64), z.string().max(512).nullable());
/** What is not there is refused by name, unless nothing is asked of it. */
export const none = (text: string) => z.union([z.null(), z.array(z.unknown()).max(0)], text).optional();
export const budget = z.null('budget: give the key or the agent a cap instead').optional();
export const environmentId = z.string().min(1).max(200);

/** When something was made and changed, as it is told. */
export const timesTold = { created_at: z.string(), updated_at: z.string(), archived_at: z.string().nullable() };
export const metadataTold = z.record(z.string(), z.string());

const WRONG_AGENT =
  'agent must be the id of an agent: versions and overrides are not taken, a run has the newest version';
export const agentRef = z.union(
  [z.string().min(1).max(200), z.strictObject({ type: z.literal('agent'), id: z.string().min(1).max(200) })],
  { error: WRONG_AGENT },
);
/** The agent that something belongs to, as it is told. */
export const agentTold = z.object({ type: z.literal('agent'), id: z.string(), version: z.number() });

const byId = { ...every, params: idParam, query: anyQuery } as const;

/** How an endpoint begins, by what it does with a thing. */
export const managed = {
  make: { ...every, method: 'POST', query: anyQuery },
  read: { ...byId, method: 'GET' },
  change: { ...byId, method: 'POST' },
  remove: { ...byId, method: 'DELETE' },
  list: { ...every, method: 'GET', query: listQuery },
  listWithin: { ...every, method: 'GET', params: idParam, query: pageQuery },
} as const;
/** What those with pages may refuse. */
export const PAGE_TEXTS = [NOT_YOURS, NO_PAGE] as const;
