import { z } from 'zod';
import { timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const list = endpoint({
  service: 'web',
  tag: 'Administration',
  method: 'GET',
  path: '/api/audit',
  auth: 'session',
  summary:
    "The user's own audit log, the newest first: sign-ins (failed ones, too), keys, passwords, plans, security events. Administrators see everybody's",
  query: z.object({
    limit: wholeQuery(50, 1, 200),
    before: z
      .string()
      .regex(/^\d{1,18}$/, 'Invalid before')
      .optional()
      .describe('Entries older than this id'),
    userId: z.string().max(64).optional().describe('Administrators: only this user'),
  }),
  reply: z.object({
    entries: z.array(
      z.object({
        id: z.string(),
        userId: z.string().nullable(),
        email: z.string().nullable().describe('Of the user; null when the account is gone'),
        actorId: z.string().nullable().describe('Who did it; null: the user, or the platform itself'),
        actorEmail: z.string().nullable().describe('Of whoever did it, for administrators and where it was the user'),
        action: z.string(),
        detail: z.record(z.string(), z.unknown()),
        ip: z.string().nullable(),
        createdAt: timestamp,
      }),
    ),
    next: z.string().nullable().describe('`before` of the next page'),
  }),
  errors: { 401: ['Unauthorized'] },
});
