import { z } from 'zod';
import { idParams, nullableTimestamp, success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { FACTOR_NAME_LENGTH, CODE_LENGTH } from '../forms.ts';
import { tooLong } from '../fields.ts';
import { attestationBody } from './second-step.ts';
import { CONFIRM_FIRST, PASSKEY_REFUSED, PASSKEYS_NEED_A_NAME, stepMethod, TOO_MANY } from './fields.ts';

const factors = { service: 'web', tag: 'Settings', auth: 'cookie' } as const;

const factor = z.object({
  id: z.string(),
  kind: z.enum(['totp', 'passkey']),
  name: z.string(),
  createdAt: timestamp,
  lastUsed: nullableTimestamp,
});

const NAME_TEXT = 'Invalid name';
const name = z
  .string({ error: NAME_TEXT })
  .trim()
  .min(1, NAME_TEXT)
  .max(FACTOR_NAME_LENGTH, tooLong('Name', FACTOR_NAME_LENGTH))
  .regex(/^\P{Cc}*$/u, NAME_TEXT);

const VERIFY_FIRST = 'Verify your e-mail address first';
const FACTOR_NOT_FOUND = 'Factor not found';
const MANY = 'Too many factors (max 20)';
const careful = { 401: ['Unauthorized'], 403: [CONFIRM_FIRST], 429: [TOO_MANY] } as const;

/** Shown once, with the first factor. */
const recoveryCodes = z.array(z.string());
const added = z.object({
  factor,
  recoveryCodes: recoveryCodes.nullable().describe('With the first factor, shown once'),
});

export const list = endpoint({
  ...factors,
  method: 'GET',
  path: '/api/settings/factors',
  summary: 'The own second factors, and how this session can be confirmed',
  reply: z.object({
    factors: z.array(factor),
    recoveryCodesLeft: z.number(),
    confirmedUntil: nullableTimestamp.describe('Null: what is sensitive asks to confirm the session first'),
    confirmWith: z.array(z.union([z.literal('password'), stepMethod])).describe('Empty: by signing in again'),
    passkeys: z.boolean().describe('Whether passkeys can be used at this address'),
    password: z
      .enum(['own', 'given'])
      .nullable()
      .describe('`given`: the one that the first start made and printed; null: none'),
  }),
  errors: { 401: ['Unauthorized'] },
});

export const startTotp = endpoint({
  ...factors,
  method: 'POST',
  path: '/api/settings/factors/totp',
  summary: 'A secret for an authenticator app; counts once a code of it was shown',
  body: z.object({ name }),
  reply: z.object({ id: z.string(), secret: z.string(), uri: z.string() }),
  errors: { ...careful, 403: [CONFIRM_FIRST, VERIFY_FIRST], 429: [MANY, TOO_MANY] },
});

export const confirmTotp = endpoint({
  ...factors,
  method: 'POST',
  path: '/api/settings/factors/totp/:id',
  summary: 'Show a code of the new authenticator: from now on a sign-in asks for one',
  params: idParams,
  body: z.object({ code: z.string().max(CODE_LENGTH) }),
  reply: added,
  errors: { ...careful, 400: ['Wrong code'], 404: [FACTOR_NOT_FOUND] },
});

export const startPasskey = endpoint({
  ...factors,
  method: 'POST',
  path: '/api/settings/factors/passkeys/options',
  summary: 'What `navigator.credentials.create()` needs for a new passkey; works once, within five minutes',
  reply: z.object({
    challenge: z.string(),
    rp: z.object({ id: z.string(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.number() })),
    authenticatorSelection: z.object({
      residentKey: z.literal('required'),
      requireResidentKey: z.literal(true),
      userVerification: z.literal('required'),
    }),
    attestation: z.literal('none'),
    timeout: z.number(),
    excludeCredentials: z.array(z.object({ type: z.literal('public-key'), id: z.string() })),
  }),
  errors: { ...careful, 403: [CONFIRM_FIRST, VERIFY_FIRST], 409: [PASSKEYS_NEED_A_NAME] },
});

export const addPasskey = endpoint({
  ...factors,
  method: 'POST',
  path: '/api/settings/factors/passkeys',
  summary: 'Keep a passkey: from now on it signs in alone, and a password no longer does',
  body: z.object({ name, passkey: attestationBody }),
  reply: added,
  errors: {
    ...careful,
    400: [PASSKEY_REFUSED],
    403: [CONFIRM_FIRST, VERIFY_FIRST],
    409: ['This passkey is known already', PASSKEYS_NEED_A_NAME],
    429: [MANY, TOO_MANY],
  },
});

export const remove = endpoint({
  ...factors,
  method: 'DELETE',
  path: '/api/settings/factors/:id',
  summary: 'Remove a factor; with the last one the second step and the recovery codes go',
  params: idParams,
  reply: success,
  errors: { ...careful, 404: [FACTOR_NOT_FOUND] },
});

export const makeRecoveryCodes = endpoint({
  ...factors,
  method: 'POST',
  path: '/api/settings/recovery-codes',
  summary: 'New recovery codes, shown once; the old ones stop working',
  reply: z.object({ recoveryCodes }),
  errors: { ...careful, 409: ['Add a factor first'] },
});

export const reset = endpoint({
  service: 'web',
  tag: 'Administration',
  auth: 'admin',
  method: 'DELETE',
  path: '/api/admin/users/:id/factors',
  summary: "Remove a user's second factors and recovery codes; recorded, and the user is told by mail",
  params: idParams,
  reply: success,
  errors: {
    403: ['Admin access required.', CONFIRM_FIRST],
    404: ['User not found'],
    409: ['This user has no second factor'],
  },
});
