import { z } from 'zod';
import { idParams, nullableTimestamp, planName, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const admin = { service: 'web', tag: 'Administration' } as const;

const subscriptionStatus = z.enum(['active', 'inactive', 'past_due', 'cancelled']);

const person = z.object({
  id: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  name: z.string(),
  isAdmin: z.boolean(),
  plan: planName.nullable(),
  subscriptionStatus,
  credits: z.number(),
  secondFactor: z.boolean(),
  eraseAt: nullableTimestamp.describe('Set while the account is closed'),
  createdAt: timestamp,
});

const ADMIN_REQUIRED = 'Admin access required.';

export const listUsers = endpoint({
  ...admin,
  method: 'GET',
  path: '/api/admin/users',
  auth: 'admin',
  summary: 'All users, the newest first',
  query: z.object({
    limit: wholeQuery(50, 1, 200),
    offset: wholeQuery(0, 0, 10_000_000),
    search: z.string().trim().max(254).optional().describe('Part of the e-mail or the name'),
  }),
  reply: z.object({ users: z.array(person), total: z.number(), limit: z.number(), offset: z.number() }),
  errors: { 403: [ADMIN_REQUIRED] },
});

export const updateUser = endpoint({
  ...admin,
  method: 'PATCH',
  path: '/api/admin/users/:id',
  auth: 'admin',
  summary: "Change a user's plan or subscription; recorded in the audit log",
  params: idParams,
  body: z
    .object({ plan: planName.nullable().optional(), subscriptionStatus: subscriptionStatus.optional() })
    .refine(
      ({ plan, subscriptionStatus }) => plan !== undefined || subscriptionStatus !== undefined,
      'plan or subscriptionStatus required',
    ),
  reply: person,
  errors: { 400: ['plan or subscriptionStatus required'], 403: [ADMIN_REQUIRED], 404: ['User not found'] },
});
