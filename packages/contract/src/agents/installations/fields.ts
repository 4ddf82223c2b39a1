import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { type Auth, endpoint, type Service } from '../../endpoint.ts';
import { tooLong } from '../../fields.ts';

/** The backend's routes; web passes the same paths on, with the session's user as the identity. */

const USER_ID = 'userId required';
export const userId = z.string({ error: USER_ID }).trim().min(1, USER_ID).max(200, tooLong('userId', 200));
const gatewayToken = z.string().min(16).max(512).optional();
const registered = z.object({ success: z.literal(true), message: z.string(), dashboardUrl: z.string() });
export const REGISTER_ERRORS = {
  400: [USER_ID],
  403: ['Another gateway token needs the user’s API key', 'This needs the user’s API key'],
};

export const base = <A extends Auth>(service: Service, auth: A) => ({
  service,
  auth,
  tag: 'Installations',
  errorFields: { success: false },
});

export const routes = <A extends Auth>(service: Service, auth: A) => ({
  registerHome: endpoint({
    ...base(service, auth),
    method: 'POST',
    path: '/api/register-home',
    summary: 'Register an agent runtime on the user’s own machine',
    body: z.object({ userId, mode: z.enum(['home', 'link', 'cloud']).default('home'), gatewayToken }),
    reply: registered,
    errors: REGISTER_ERRORS,
  }),
  registerLink: endpoint({
    ...base(service, auth),
    method: 'POST',
    path: '/api/register-link',
    summary: 'Register a runtime that was there already',
    body: z.object({ userId, gatewayToken }),
    reply: registered,
    errors: REGISTER_ERRORS,
  }),
  list: endpoint({
    ...base(service, auth),
    method: 'GET',
    path: '/api/installations',
    summary: 'The caller’s installations',
    reply: z.object({
      success: z.literal(true),
      count: z.number(),
      installations: z.array(
        z.object({
          user_id: z.string(),
          mode: z.enum(['home', 'link', 'cloud']),
          registered_at: timestamp,
          last_seen: timestamp,
          status: z.enum(['active', 'inactive']),
        }),
      ),
    }),
  }),
});

export const AWAY = { 502: ['Backend unavailable'] };

export const script = (service: Service, path: string, summary: string) =>
  endpoint({
    service,
    method: 'GET',
    path,
    auth: 'none',
    tag: 'Installations',
    summary,
    produces: 'text/plain',
    ...(service === 'web' ? { errors: AWAY } : {}),
  });
