import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { BAD_EMAIL, emailBody, EMAIL_REQUIRED, hex64 } from '../fields.ts';

const invites = { service: 'web', tag: 'Invites' } as const;

const NAME = 'Name required';
const BAD_NAME = 'Invalid name';

export const create = endpoint({
  ...invites,
  method: 'POST',
  path: '/api/invite',
  auth: 'session',
  summary: 'Invite somebody; the link is shown this once',
  body: z.object({ name: z.string({ error: NAME }).trim().min(1, NAME).max(100, BAD_NAME) }),
  reply: z.object({ success: z.literal(true), inviteUrl: z.string(), token: z.string() }),
  errors: {
    400: [NAME, BAD_NAME],
    401: ['Unauthorized'],
    404: ['User not found'],
    429: ['Too many open invites (max 20)'],
  },
});

const NO_TOKEN = 'Invite token is required';

export const verify = endpoint({
  ...invites,
  method: 'POST',
  path: '/api/invites/verify',
  auth: 'none',
  summary: 'Whether an invite can still be used',
  body: z.object({
    token: z.string({ error: NO_TOKEN }).trim().min(1, NO_TOKEN).regex(hex64, 'Invalid invite token format'),
  }),
  reply: z.object({ valid: z.literal(true), plan: z.literal('solo'), note: z.string().optional() }),
  errors: {
    400: [NO_TOKEN, 'Invalid invite token format'],
    404: ['Invalid or expired invite'],
    410: ['Invite has already been used'],
  },
});

const ADMIN_REQUIRED = 'Admin access required.';

export const list = endpoint({
  ...invites,
  method: 'GET',
  path: '/api/admin/invites',
  auth: 'admin',
  summary: 'All invites, the newest 500',
  reply: z.object({
    invites: z.array(
      z.object({
        code: z.string(),
        email: z.string().nullable(),
        name: z.string().nullable(),
        createdAt: timestamp,
        expiresAt: timestamp,
        usedAt: timestamp.optional(),
        status: z.enum(['active', 'used', 'expired']),
        userId: z.string().optional().describe('Who used it'),
      }),
    ),
    total: z.number(),
    active: z.number(),
  }),
  errors: { 403: [ADMIN_REQUIRED] },
});

export const createByAdmin = endpoint({
  ...invites,
  method: 'POST',
  path: '/api/admin/invites',
  auth: 'admin',
  summary: 'Mail an invite that brings an active solo plan',
  body: z.object({ email: emailBody }),
  reply: z.object({ success: z.literal(true), code: z.string(), email: z.string(), inviteUrl: z.string() }),
  errors: { 400: [EMAIL_REQUIRED, BAD_EMAIL], 403: [ADMIN_REQUIRED] },
});

export const goneGenerate = endpoint({
  ...invites,
  method: 'POST',
  path: '/api/invite/generate',
  auth: 'none',
  summary: 'Gone: use /api/invite',
  errors: { 410: ['This endpoint is gone. Use POST /api/invite.'] },
});

export const goneValidate = endpoint({
  ...invites,
  method: 'POST',
  path: '/api/invite/validate',
  auth: 'none',
  summary: 'Gone: use /api/invites/verify',
  errors: { 410: ['This endpoint is gone. Use POST /api/invites/verify.'] },
});
