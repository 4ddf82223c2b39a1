import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { neededSecret } from '../fields.ts';
import { signedInOrStep } from './fields.ts';
import { NOT_JOINING } from './joining.ts';

const wallet = { service: 'web', tag: 'Identity', auth: 'none' } as const;

const nonce = {
  ...wallet,
  path: '/api/auth/nonce',
  summary: 'A nonce for a wallet sign-in: works once, within ten minutes',
  reply: z.object({ nonce: z.string() }),
} as const;

export const getNonce = endpoint({ ...nonce, method: 'GET' });
export const postNonce = endpoint({ ...nonce, method: 'POST' });

const MISSING = 'Missing: address, message, signature';

export const signIn = endpoint({
  ...wallet,
  method: 'POST',
  path: '/api/wallet-auth',
  summary: 'Sign in with a smart-contract wallet (Sign-In with Ethereum); sets the session cookie',
  body: z.object(
    { address: neededSecret(MISSING), message: neededSecret(MISSING), signature: neededSecret(MISSING) },
    { error: MISSING },
  ),
  reply: signedInOrStep,
  errors: {
    400: [MISSING],
    401: ['Invalid signature', 'Only smart-contract wallets are supported'],
    403: [NOT_JOINING.invite, NOT_JOINING.closed],
    429: ['Too many requests'],
    503: ['Verification unavailable'],
  },
});
