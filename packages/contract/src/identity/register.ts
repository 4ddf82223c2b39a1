import { z } from 'zod';
import { success } from '../common.ts';
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
  shortPassword,
  WAITING,
} from '../fields.ts';
import { ACCESS_DENIED, botFields, identity, message, TOO_MANY } from './fields.ts';
import { REFERRAL_LENGTH } from '../forms.ts';
import { NOT_JOINING } from './joining.ts';

const EMAIL_AND_PASSWORD = 'Email and password required';
const BAD_REFERRAL = 'Invalid referral code';
const isReferral = (code: string): boolean => code.length <= REFERRAL_LENGTH && /^[A-Za-z0-9-]+$/.test(code);

export const create = endpoint({
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
      const refuse = (field: string, message: string) => check.addIssue({ code: 'custom', path: [field], message });
      if (!isEmail(email)) refuse('email', BAD_EMAIL);
      if (!longEnough(password)) refuse('password', SHORT_PASSWORD);
      if (referralCode && !isReferral(referralCode)) refuse('referralCode', BAD_REFERRAL);
    }),
  reply: z.object({ id: z.string(), email: z.string(), name: z.string() }),
  errors: {
    400: [EMAIL_AND_PASSWORD, BAD_EMAIL, SHORT_PASSWORD, BAD_REFERRAL, 'Invalid invite token format'],
    403: [ACCESS_DENIED, NOT_JOINING.invite, NOT_JOINING.closed],
    404: ['Invalid or expired invite'],
    409: ['User already exists'],
    410: ['Invite has already been used'],
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
    .refine(({ password }) => password === undefined || longEnough(password), shortPassword('password')),
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
