import { z } from 'zod';
import { planName, success } from '../common.ts';
import { isEmail } from '../email.ts';
import { endpoint } from '../endpoint.ts';
import {
  BAD_EMAIL,
  BUSY,
  longEnough,
  neededSecret,
  personName,
  SHORT_PASSWORD,
  shortPassword,
  WAITING,
} from '../fields.ts';
import { CONFIRM_FIRST } from './fields.ts';

const settings = { service: 'web', tag: 'Settings' } as const;

const profile = z.object({
  id: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  name: z.string(),
  plan: planName.nullable(),
  credits: z.number(),
  twoFactorEnabled: z.boolean(),
  notifications: z.record(z.string(), z.unknown()),
  instance: z.object({ id: z.string(), url: z.string() }).nullable(),
});

const name = personName.min(1, 'Name required').optional();
const notifications = z
  .record(z.string().max(64), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 10_000, 'Notifications too large (max 10 KB)')
  .optional();

export const get = endpoint({
  ...settings,
  method: 'GET',
  path: '/api/settings',
  auth: 'session',
  summary: 'The own profile',
  reply: profile,
  errors: { 401: ['Unauthorized'] },
});

export const update = endpoint({
  ...settings,
  method: 'POST',
  path: '/api/settings',
  auth: 'session',
  summary: 'Change the own profile',
  body: z.object({
    name,
    email: z.string({ error: BAD_EMAIL }).trim().refine(isEmail, BAD_EMAIL).optional(),
    notifications,
  }),
  reply: profile,
  errors: {
    400: [BAD_EMAIL],
    401: ['Unauthorized'],
    403: ['Sign in to change the e-mail address', CONFIRM_FIRST],
    409: ['Email already in use'],
  },
});

export const patch = endpoint({
  ...settings,
  method: 'PATCH',
  path: '/api/settings',
  auth: 'session',
  summary: 'Change name or notifications',
  body: z.object({ name, notifications }),
  reply: profile,
  errors: { 401: ['Unauthorized'] },
});

const BOTH_REQUIRED = 'Current and new password required';
const password = neededSecret(BOTH_REQUIRED);

export const changePassword = endpoint({
  ...settings,
  method: 'POST',
  path: '/api/settings/password',
  auth: 'cookie',
  summary: 'Change the password; every other session ends',
  body: z
    .object({ currentPassword: password, newPassword: password })
    .refine(({ newPassword }) => longEnough(newPassword), shortPassword('newPassword')),
  reply: success,
  errors: {
    400: [BOTH_REQUIRED, SHORT_PASSWORD],
    401: ['Unauthorized', 'Current password is incorrect'],
    429: ['Too many login attempts. Try again in 15 minutes.', 'Too many requests', WAITING],
    503: [BUSY],
  },
});

export const getCredits = endpoint({
  ...settings,
  method: 'GET',
  path: '/api/credits',
  auth: 'session',
  summary: 'Credits and the own referral code',
  reply: z.object({
    credits: z.number(),
    referralCode: z.string(),
    referralCount: z.number(),
    plan: planName.nullable(),
  }),
  errors: { 401: ['Unauthorized'] },
});
