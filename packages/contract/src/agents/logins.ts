import { z } from 'zod';
import { success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { AGENT_NOT_FOUND } from './fields.ts';

/** What an agent's browser may sign in with: given by its owner, typed by name, never shown again to anybody. */

const BAD_NAME = 'A login is named by letters, digits, - and _';
const BAD_ORIGIN = 'Give the address of the site, such as https://shop.example';
export const LOGIN_NOT_FOUND = 'Login not found';
export const MOST_LOGINS = 20;
export const TOO_MANY_LOGINS = `An agent has ${MOST_LOGINS} logins at most`;

const base = {
  service: 'web',
  auth: 'session',
  tag: 'Logins',
  errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND, LOGIN_NOT_FOUND] },
} as const;

const agent = z.object({ id: z.string() });
const named = z.object({ id: z.string(), name: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, BAD_NAME) });

/** Its scheme, name and port, and nothing more. Over http whoever is on the way reads along. */
function originOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { origin, protocol, hostname, username, password } = new URL(address);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost');
  return isSafe && username === '' && password === '' ? origin : undefined;
}

const origin = z
  .string({ error: BAD_ORIGIN })
  .max(300, BAD_ORIGIN)
  .transform((address, context) => {
    const found = originOf(address);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: BAD_ORIGIN });
    return z.NEVER;
  });

const shown = z.object({ name: z.string(), origin: z.string(), updatedAt: timestamp });
export type AgentLogin = z.output<typeof shown>;

const value = (what: string) => z.string({ error: what }).min(1, what).max(1000, what);

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/logins',
  summary: 'Sealed logins of an agent: names and sites, never values',
  params: agent,
  reply: z.object({ logins: z.array(shown), count: z.number() }),
});

export const save = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/agents/:id/logins/:name',
  summary: 'Seal a login for an agent’s browser, or replace the one of that name',
  params: named,
  body: z.object({ origin, username: value('Username required'), password: value('Password required') }),
  reply: z.object({ success: z.literal(true) }),
  errors: { ...base.errors, 409: [TOO_MANY_LOGINS] },
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/logins/:name',
  summary: 'Remove a sealed login',
  params: z.object({ id: z.string(), name: z.string() }),
  reply: success,
});
