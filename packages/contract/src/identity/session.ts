import { z } from 'zod';
import { success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { BUSY, needed, neededSecret, WAITING } from '../fields.ts';
import { identity, signedInOrStep, TOO_MANY, TOO_MANY_GUESSES } from './fields.ts';

const MISSING_LOGIN = 'Missing email or password';

export const login = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/login',
  auth: 'none',
  summary: 'Sign in with e-mail and password; sets the session cookie, or says that the second step is owed',
  body: z.object({ email: needed(MISSING_LOGIN), password: neededSecret(MISSING_LOGIN) }),
  reply: signedInOrStep,
  failure: 'Login failed',
  errors: {
    400: [MISSING_LOGIN],
    401: ['Invalid email or password'],
    429: ['Too many login attempts. Try again in 15 minutes.', TOO_MANY_GUESSES, TOO_MANY, WAITING],
    500: ['Login failed'],
    503: [BUSY],
  },
});

export const get = endpoint({
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

export const list = endpoint({
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

export const end = endpoint({
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
