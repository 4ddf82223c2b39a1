import { z } from 'zod';
import { timestamp } from '../common.ts';

/** What the endpoints about people have in common. */
export const identity = { service: 'web', tag: 'Identity' } as const;

export const ACCESS_DENIED = 'Access denied';
export const TOO_MANY = 'Too many requests';
export const TOO_MANY_GUESSES =
  'Too many wrong passwords for this e-mail address. Sign in where you have signed in before, set a new password by mail, or try again in an hour.';

/** What a person never fills in, and what a browser solved. */
export const botFields = {
  website: z.unknown().optional().describe('Left empty by people'),
  altcha: z.string().optional().describe('The solved challenge, where one is asked for'),
};

export const message = z.object({ message: z.string() });

/** Told to a session that has to show again who it belongs to; with `code: 'CONFIRM_FIRST'`. */
export const CONFIRM_FIRST = 'Confirm that it is you first';
export const SIGN_IN_AGAIN = 'Sign in again';
export const PASSKEY_REFUSED = 'The passkey was not accepted';
export const PASSKEYS_NEED_A_NAME = 'Passkeys need an address with a host name: set BASE_URL to one';

export const stepMethod = z.enum(['passkey', 'totp', 'recovery']);

export const owedStep = z.object({ methods: z.array(stepMethod), expiresAt: timestamp });

export const signedIn = z.object({ ok: z.literal(true), user: z.object({ id: z.string(), name: z.string() }) });

/** `ok: false`: nobody is signed in yet; POST /api/auth/second-step with the cookie that came along is the rest. */
export const signedInOrStep = z.union([signedIn, z.object({ ok: z.literal(false), secondStep: owedStep })]);
