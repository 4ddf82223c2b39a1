import { z } from 'zod';
import { planName } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** Who may come to this installation, and what a new account begins with. */

export const JOINING_MODES = ['open', 'invite', 'closed'] as const;
export type JoiningMode = (typeof JOINING_MODES)[number];

/** Said to whoever may not come. */
export const NOT_JOINING = {
  invite: 'New accounts need an invitation',
  closed: 'No new accounts are made here',
} as const;

const mode = z.enum(JOINING_MODES, `mode must be one of ${JOINING_MODES.join(', ')}`);
const DAYS = 'days must be a whole number from 1 to 365, or null';
const PLANLESS = 'days need a plan';

export const getMode = endpoint({
  service: 'web',
  tag: 'Identity',
  auth: 'none',
  method: 'GET',
  path: '/api/joining',
  summary: 'Whether an account can be made here: by anybody, with an invitation, or not at all',
  reply: z.object({ mode }),
});

const rules = z.object({
  mode,
  /** What a new account begins with; null: with nothing. */
  plan: planName.nullable(),
  /** How long it has that plan; null: until somebody changes it. */
  days: z.int(DAYS).min(1, DAYS).max(365, DAYS).nullable(),
});
export type JoiningRules = z.output<typeof rules>;

const admin = { service: 'web', tag: 'Administration', auth: 'admin', path: '/api/admin/joining' } as const;
const ADMIN_REQUIRED = 'Admin access required.';

export const get = endpoint({
  ...admin,
  method: 'GET',
  summary: 'Who may make an account, and what it begins with',
  reply: rules,
  errors: { 403: [ADMIN_REQUIRED] },
});

export const change = endpoint({
  ...admin,
  method: 'PUT',
  summary: 'Say who may make an account, and what it begins with; those who are here are not touched',
  body: rules.refine(({ plan, days }) => days === null || plan !== null, PLANLESS),
  reply: rules,
  errors: { 400: [DAYS, PLANLESS], 403: [ADMIN_REQUIRED] },
});
