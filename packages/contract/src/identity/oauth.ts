import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const oauth = { service: 'web', tag: 'Identity', auth: 'none', method: 'GET', status: 302 } as const;

/** Where a sign-in that failed is sent: /login?error= and one of these. */
export const SIGN_IN_ERRORS = [
  'AccessDenied',
  'IdpAuthFailed',
  'IdpNotConfigured',
  'IdpTokenFailed',
  'IdpNoEmail',
  'IdpAuthError',
] as const;
export type SignInError = (typeof SIGN_IN_ERRORS)[number];

/** Whatever a browser is sent back with, it must not end on a page of JSON. */
const text = z.string().optional().catch(undefined);
const answer = z.object({ code: text, state: text, error: text });

const errorsText = `Redirects to /dashboard, to /login/second-step where that is owed, or to /login?error= and one of ${SIGN_IN_ERRORS.join(', ')}`;

export const listProviders = endpoint({
  service: 'web',
  tag: 'Identity',
  auth: 'none',
  method: 'GET',
  path: '/api/auth/providers',
  summary: 'Which identity providers are set up here',
  reply: z.object({ idp1: z.boolean(), idp2: z.boolean() }),
});

export const startIdp1 = endpoint({
  ...oauth,
  path: '/api/auth/idp1',
  summary: 'Sign in at the code-hosting provider: redirects there',
});

export const startIdp2 = endpoint({
  ...oauth,
  path: '/api/auth/idp2',
  summary: 'Sign in at the general provider: redirects to its account selector',
});

export const finishIdp1 = endpoint({
  ...oauth,
  path: '/api/auth/idp1/callback',
  summary: `Called by the code-hosting provider. ${errorsText}`,
  query: answer,
});

export const finishIdp2 = endpoint({
  ...oauth,
  path: '/api/auth/idp2/callback',
  summary: `Called by the general provider. ${errorsText}`,
  query: answer,
});
