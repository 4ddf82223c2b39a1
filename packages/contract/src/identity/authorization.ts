import { z } from 'zod';
import { idParams, nullableTimestamp, success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { CONFIRM_FIRST } from './fields.ts';

/**
 * The platform as an authorization server (OAuth 2.1): programs ask a person for access to /mcp or to an agent, and get
 * tokens for it. Its own pages use /api/authorizations; the rest is as RFC 8414, 7591, 7009 and 9207 have it.
 */

const server = { service: 'web', tag: 'Authorization', auth: 'none', pages: true } as const;

/** Errors of this protocol are a word in `error` and a sentence beside it. */
const OAUTH_ERRORS = { 400: ['invalid_request', 'invalid_grant', 'invalid_scope', 'unsupported_grant_type'] } as const;

export const getMetadata = endpoint({
  ...server,
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  summary: 'How programs get access tokens here (RFC 8414)',
  reply: z.looseObject({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    registration_endpoint: z.string(),
    revocation_endpoint: z.string(),
  }),
});

const REDIRECTS = 'redirect_uris must be https, a loopback address, or a scheme of the program’s own';

export const registerClient = endpoint({
  ...server,
  method: 'POST',
  path: '/oauth/register',
  summary: 'Register a program (RFC 7591); it is public, and proves itself by PKCE',
  invalidJson: 'invalid_client_metadata',
  body: z.looseObject({
    redirect_uris: z.array(z.string().max(2000)).min(1).max(20).catch([]),
    client_name: z.string().trim().max(200).optional().catch(undefined),
    grant_types: z.array(z.string()).max(20).optional().catch(undefined),
  }),
  reply: z.looseObject({ client_id: z.string(), redirect_uris: z.array(z.string()) }),
  status: 201,
  errors: { 400: ['invalid_redirect_uri', 'invalid_client_metadata'], 503: ['temporarily_unavailable'] },
});

export const exchangeToken = endpoint({
  ...server,
  method: 'POST',
  path: '/oauth/token',
  summary: 'Exchange a code or a refresh token, as a form, for tokens',
  rawBody: true,
  errors: OAUTH_ERRORS,
});

export const revokeToken = endpoint({
  ...server,
  method: 'POST',
  path: '/oauth/revoke',
  summary: 'End a token (RFC 7009); with a refresh token goes all that was given with it',
  rawBody: true,
  errors: OAUTH_ERRORS,
});

/** As programs write it in the address of the page. */
const asked = {
  client_id: z.string().max(2000).default(''),
  redirect_uri: z.string().max(2000).default(''),
  response_type: z.string().max(50).default(''),
  code_challenge: z.string().max(200).default(''),
  code_challenge_method: z.string().max(50).default(''),
  scope: z.string().max(2000).default(''),
  state: z.string().max(4000).optional(),
  resource: z.string().max(2000).optional(),
};

const consent = { service: 'web', tag: 'Authorization', auth: 'cookie' } as const;
const REFUSALS = [
  'This program is not registered here',
  'This program may not send you to the address that it names',
  'The program must ask for a code, with a PKCE challenge of S256',
  'The program asks for access to something that is not here',
  'The program asks for nothing that can be given',
  'Only a program on your own computer may ask for a key of yours',
  REDIRECTS,
] as const;

export const describe = endpoint({
  ...consent,
  method: 'GET',
  path: '/api/authorizations/request',
  summary: 'Who asks for what, before it is given',
  query: z.object(asked),
  reply: z.object({
    client: z.object({ name: z.string(), host: z.string().nullable(), redirectHost: z.string() }),
    audience: z.object({ kind: z.enum(['platform', 'agent']), name: z.string() }),
    scopes: z.array(z.object({ scope: z.string(), text: z.string() })),
  }),
  errors: { 400: REFUSALS, 401: ['Unauthorized'] },
});

export const decide = endpoint({
  ...consent,
  method: 'POST',
  path: '/api/authorizations',
  summary: 'Give a program what it asks for, or refuse it; the answer says where to go',
  body: z.object({
    ...asked,
    approved: z.boolean('approved must be true or false'),
    scopes: z.array(z.string()).max(20),
  }),
  reply: z.object({ redirect: z.string() }),
  errors: {
    400: REFUSALS,
    401: ['Unauthorized'],
    403: [CONFIRM_FIRST],
    429: ['Too many programs (max 50): remove one first'],
  },
});

export const list = endpoint({
  ...consent,
  auth: 'session',
  method: 'GET',
  path: '/api/authorizations',
  summary: 'Programs that have access, the newest first',
  reply: z.object({
    authorizations: z.array(
      z.object({
        id: z.string(),
        client: z.string(),
        name: z.string(),
        audience: z.string().describe('`platform`, or the id of an agent'),
        agent: z.string().nullable().describe('Its name'),
        scopes: z.array(z.string()),
        createdAt: timestamp,
        lastUsed: nullableTimestamp,
      }),
    ),
  }),
  errors: { 401: ['Unauthorized'] },
});

export const end = endpoint({
  ...consent,
  auth: 'session',
  method: 'DELETE',
  path: '/api/authorizations/:id',
  summary: 'Take a program’s access away; its tokens stop working at once',
  params: idParams,
  reply: success,
  errors: { 401: ['Unauthorized'], 404: ['Authorization not found'] },
});
