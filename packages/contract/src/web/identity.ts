import { z } from 'zod';
import { success, timestamp } from '../common.ts';
import { isEmail } from '../email.ts';
import { endpoint } from '../endpoint.ts';
import {
  BAD_EMAIL,
  BUSY,
  emailBody,
  EMAIL_REQUIRED,
  hex64,
  longEnough,
  needed,
  neededSecret,
  personName,
  SHORT_PASSWORD,
  WAITING,
} from '../fields.ts';

const identity = { service: 'web', tag: 'Identity' } as const;

const ACCESS_DENIED = 'Access denied';
const TOO_MANY = 'Too many requests';

/** What a person never fills in, and what a browser solved. */
const botFields = {
  website: z.unknown().optional().describe('Left empty by people'),
  altcha: z.string().optional().describe('The solved challenge, where one is asked for'),
};

const EMAIL_AND_PASSWORD = 'Email and password required';
const BAD_REFERRAL = 'Invalid referral code';

export const register = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/register',
  auth: 'none',
  summary: 'Create an account',
  body: z
    .object({
      email: needed(EMAIL_AND_PASSWORD),
      password: neededSecret(EMAIL_AND_PASSWORD),
      name: personName.optional(),
      referralCode: z.string({ error: BAD_REFERRAL }).trim().optional(),
      inviteToken: z.string().regex(hex64, 'Invalid invite token format').optional(),
      ...botFields,
    })
    // After the fields themselves, so that a missing one is told before a wrong one.
    .superRefine(({ email, password, referralCode }, check) => {
      const refuse = (message: string) => check.addIssue({ code: 'custom', message });
      if (!isEmail(email)) refuse(BAD_EMAIL);
      if (!longEnough(password)) refuse(SHORT_PASSWORD);
      if (referralCode && !/^[A-Za-z0-9-]{1,20}$/.test(referralCode)) refuse(BAD_REFERRAL);
    }),
  reply: z.object({ id: z.string(), email: z.string(), name: z.string() }),
  errors: {
    400: [EMAIL_AND_PASSWORD, BAD_EMAIL, SHORT_PASSWORD, BAD_REFERRAL, 'Invalid invite token format'],
    403: [ACCESS_DENIED],
    404: ['Invalid or expired invite'],
    409: ['User already exists'],
    410: ['Invite has already been used'],
    429: [TOO_MANY, WAITING],
    503: [BUSY],
  },
});

const MISSING_LOGIN = 'Missing email or password';

export const login = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/login',
  auth: 'none',
  summary: 'Sign in with e-mail and password; sets the session cookie',
  body: z.object({ email: needed(MISSING_LOGIN), password: neededSecret(MISSING_LOGIN) }),
  reply: z.object({ ok: z.literal(true), user: z.object({ id: z.string(), name: z.string() }) }),
  failure: 'Login failed',
  errors: {
    400: [MISSING_LOGIN],
    401: ['Invalid email or password'],
    429: ['Too many login attempts. Try again in 15 minutes.', TOO_MANY, WAITING],
    500: ['Login failed'],
    503: [BUSY],
  },
});

export const getSession = endpoint({
  ...identity,
  method: 'GET',
  path: '/api/auth/session',
  auth: 'optional',
  summary: 'Who is signed in; null when nobody is',
  reply: z.object({
    user: z.object({ id: z.string(), name: z.string(), email: z.string(), isAdmin: z.boolean() }).nullable(),
  }),
});

export const signOut = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/signout',
  auth: 'optional',
  summary: 'End the session and clear the cookie',
  reply: z.object({ ok: z.literal(true) }),
});

export const getCsrf = endpoint({
  ...identity,
  method: 'GET',
  path: '/api/auth/csrf',
  auth: 'cookie',
  summary: 'A token that lets a page of another origin act for this session',
  reply: z.object({ token: z.string(), header: z.literal('x-csrf-token') }),
  errors: { 401: ['Unauthorized'] },
});

export const getChallenge = endpoint({
  ...identity,
  method: 'GET',
  path: '/api/auth/challenge',
  auth: 'none',
  summary: 'A proof-of-work challenge: find `number` so that SHA-256 of salt and number is `challenge`',
  reply: z.object({
    algorithm: z.literal('SHA-256'),
    challenge: z.string(),
    maxnumber: z.number(),
    salt: z.string(),
    signature: z.string(),
  }),
  errors: { 404: ['No challenge is needed'] },
});

const message = z.object({ message: z.string() });

export const forgotPassword = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/forgot-password',
  auth: 'none',
  summary: 'Mail a link to set a new password; the same answer whether or not the account exists',
  body: z.object({ email: emailBody, ...botFields }),
  reply: message,
  errors: { 400: [EMAIL_REQUIRED, BAD_EMAIL], 403: [ACCESS_DENIED], 429: [TOO_MANY] },
});

const TOKEN_AND_PASSWORD = 'Token and password are required';

export const resetPassword = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/reset-password',
  auth: 'none',
  summary: 'Set a new password with a mailed link; ends all sessions',
  body: z
    .object({ token: needed(TOKEN_AND_PASSWORD), password: neededSecret(TOKEN_AND_PASSWORD) })
    .refine(({ password }) => longEnough(password), SHORT_PASSWORD),
  reply: message,
  errors: {
    400: [TOKEN_AND_PASSWORD, SHORT_PASSWORD, 'Invalid or expired reset link'],
    429: [TOO_MANY, WAITING],
    503: [BUSY],
  },
});

export const OTHER_ACCOUNT = 'This link is for another account: sign out, then open it again';

export const verifyEmail = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/verify-email',
  auth: 'optional',
  summary:
    'Prove an address with a mailed link. Without the session of that account everything made in it before ends: its password too, unless one is given with the token',
  body: z
    .object({ token: needed('Token is required'), password: z.string(SHORT_PASSWORD).optional() })
    .refine(({ password }) => password === undefined || longEnough(password), SHORT_PASSWORD),
  reply: success,
  errors: {
    400: ['Token is required', SHORT_PASSWORD, 'Invalid or expired verification link'],
    409: [OTHER_ACCOUNT],
  },
});

export const resendVerification = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/verify-email/resend',
  auth: 'none',
  summary: 'Mail the verification link again; the same answer whether or not the account exists',
  body: z.object({ email: emailBody }),
  reply: message,
  errors: { 400: [EMAIL_REQUIRED, BAD_EMAIL], 429: [TOO_MANY] },
});

export const listSessions = endpoint({
  ...identity,
  method: 'GET',
  path: '/api/auth/sessions',
  auth: 'cookie',
  summary: 'Where the user is signed in',
  reply: z.object({
    sessions: z.array(
      z.object({
        id: z.string(),
        device: z.string(),
        ip: z.string(),
        createdAt: timestamp,
        lastSeen: timestamp,
        expiresAt: timestamp,
        current: z.boolean(),
      }),
    ),
  }),
  errors: { 401: ['Unauthorized'] },
});

export const endSession = endpoint({
  ...identity,
  method: 'DELETE',
  path: '/api/auth/sessions/:id',
  auth: 'cookie',
  summary: 'End one session',
  params: z.object({ id: z.string() }),
  reply: success,
  errors: { 401: ['Unauthorized'], 404: ['Session not found'] },
});

export const goneCredentials = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/callback/credentials',
  auth: 'none',
  summary: 'Gone: use /api/auth/login',
  errors: { 410: ['This endpoint is gone. Use POST /api/auth/login.'] },
});
