import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import {
  BAD_EMAIL,
  BUSY,
  emailBody,
  EMAIL_REQUIRED,
  longEnough,
  needed,
  neededSecret,
  SHORT_PASSWORD,
  shortPassword,
  WAITING,
} from '../fields.ts';
import { ACCESS_DENIED, botFields, identity, message, TOO_MANY } from './fields.ts';

export const forgot = endpoint({
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

export const reset = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/reset-password',
  auth: 'none',
  summary: 'Set a new password with a mailed link; ends all sessions',
  body: z
    .object({ token: needed(TOKEN_AND_PASSWORD), password: neededSecret(TOKEN_AND_PASSWORD) })
    .refine(({ password }) => longEnough(password), shortPassword('password')),
  reply: message,
  errors: {
    400: [TOKEN_AND_PASSWORD, SHORT_PASSWORD, 'Invalid or expired reset link'],
    429: [TOO_MANY, WAITING],
    503: [BUSY],
  },
});
