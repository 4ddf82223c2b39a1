import { z } from 'zod';
import { success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { BUSY, WAITING } from '../fields.ts';
import { CODE_LENGTH } from '../forms.ts';
import {
  identity,
  owedStep,
  PASSKEYS_NEED_A_NAME,
  PASSKEY_REFUSED,
  SIGN_IN_AGAIN,
  signedIn,
  TOO_MANY,
} from './fields.ts';

/** Bytes as browsers and libraries write them. */
const bytes = (longest: number) => z.base64url().min(1).max(longest);

/** What `navigator.credentials.get()` answers, as its toJSON writes it. */
export const assertionBody = z.object({
  id: bytes(2000),
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: bytes(4000),
    authenticatorData: bytes(4000),
    signature: bytes(4000),
    userHandle: bytes(200).nullish(),
  }),
});
export type PasskeyAssertion = z.infer<typeof assertionBody>;

/** What `navigator.credentials.create()` answers, as its toJSON writes it. */
export const attestationBody = z.object({
  id: bytes(2000),
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: bytes(4000),
    authenticatorData: bytes(8000),
    publicKey: bytes(4000).describe('As DER (SubjectPublicKeyInfo)'),
    publicKeyAlgorithm: z.number().int(),
    transports: z.array(z.string().max(32)).max(10).default([]),
  }),
});
export type PasskeyAttestation = z.infer<typeof attestationBody>;

const ONE_PROOF = 'Give one of: code, recoveryCode, passkey';
const proofs = {
  code: z.string().max(CODE_LENGTH).optional().describe('Six digits of an authenticator app'),
  recoveryCode: z.string().max(CODE_LENGTH).optional(),
  passkey: assertionBody.optional(),
};
const oneOf = (given: Record<string, unknown>): boolean =>
  Object.values(given).filter((value) => value !== undefined).length === 1;

const WRONG = ['Wrong code', PASSKEY_REFUSED];
const SPENT = 'Too many wrong codes. Use a passkey or a recovery code, or try again tomorrow.';

export const requestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  userVerification: z.literal('required'),
  timeout: z.number(),
  allowCredentials: z.array(
    z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) }),
  ),
});

export const get = endpoint({
  ...identity,
  method: 'GET',
  path: '/api/auth/second-step',
  auth: 'none',
  summary: 'What the sign-in of the cookie svc-sign-in still owes',
  reply: owedStep,
  errors: { 401: [SIGN_IN_AGAIN] },
});

export const pass = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/second-step',
  auth: 'none',
  summary: 'The second step of a sign-in: a code, a recovery code or a passkey; sets the session cookie',
  body: z.object(proofs).refine(oneOf, ONE_PROOF),
  reply: signedIn,
  errors: { 400: [ONE_PROOF], 401: [SIGN_IN_AGAIN, ...WRONG], 429: [SPENT, TOO_MANY] },
});

export const askPasskey = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/second-step/passkey',
  auth: 'none',
  summary: 'What a passkey has to sign for the second step; works once, within five minutes',
  reply: requestOptions,
  errors: { 401: [SIGN_IN_AGAIN], 409: [PASSKEYS_NEED_A_NAME], 429: [TOO_MANY] },
});

export const startPasskey = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/passkey/options',
  auth: 'none',
  summary: 'What a passkey has to sign to sign in with it alone; works once, within five minutes',
  reply: requestOptions,
  errors: { 409: [PASSKEYS_NEED_A_NAME], 429: [TOO_MANY] },
});

export const signIn = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/passkey',
  auth: 'none',
  summary: 'Sign in with a passkey alone; sets the session cookie',
  body: z.object({ passkey: assertionBody }),
  reply: signedIn,
  errors: { 401: [PASSKEY_REFUSED], 409: [PASSKEYS_NEED_A_NAME], 429: [TOO_MANY] },
});

const CONFIRM_PROOF = 'Give one of: password, code, recoveryCode, passkey';

export const confirm = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/confirm',
  auth: 'cookie',
  summary: 'Show again who you are; for a quarter of an hour the session may do what asks for it',
  body: z.object({ password: z.string().optional(), ...proofs }).refine(oneOf, CONFIRM_PROOF),
  reply: success.extend({ until: timestamp }),
  errors: {
    400: [CONFIRM_PROOF],
    401: ['Unauthorized', 'Wrong password', ...WRONG],
    403: ['Confirm with your second factor, not with the password', 'Sign in again to confirm that it is you'],
    429: [SPENT, TOO_MANY, 'Too many login attempts. Try again in 15 minutes.', WAITING],
    503: [BUSY],
  },
});

export const confirmPasskey = endpoint({
  ...identity,
  method: 'POST',
  path: '/api/auth/confirm/passkey',
  auth: 'cookie',
  summary: 'What a passkey has to sign to confirm the session; works once, within five minutes',
  reply: requestOptions,
  errors: { 401: ['Unauthorized'], 409: [PASSKEYS_NEED_A_NAME], 429: [TOO_MANY] },
});
