import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { needed } from '../fields.ts';

const federated = { service: 'web', tag: 'Federated identity', auth: 'none' } as const;

const about = z.object({
  endpoint: z.string(),
  methods: z.array(z.string()),
  description: z.string(),
  required: z.array(z.string()),
  optional: z.array(z.string()),
});

const VERIFY = '/api/auth/federated/verify';
const REFRESH = '/api/auth/federated/refresh';
const GATING = '/api/auth/token-gating/verify';

const UNAVAILABLE = 'Verification unavailable';
const SLOW_DOWN = 'Too many requests';
const BAD_ADDRESS = 'Invalid Ethereum address';
const isAddress = (value: string) => /^0x[0-9a-fA-F]{40}$/.test(value);

export const aboutVerify = endpoint({
  ...federated,
  method: 'GET',
  path: VERIFY,
  summary: 'What the endpoint takes',
  reply: about,
});

export const verify = endpoint({
  ...federated,
  method: 'POST',
  path: VERIFY,
  summary: 'Turn a token of the federated identity provider into a session token',
  // What is missing is a 401 here, and said by the service.
  body: z.object({ fidToken: z.unknown().optional(), address: z.string({ error: BAD_ADDRESS }).nullish() }),
  reply: z.object({
    success: z.literal(true),
    sessionToken: z.string().describe('Base64url of the claims (JSON), a dot, base64url of their HMAC-SHA256'),
    refreshToken: z.string(),
    address: z.string().nullable(),
    tokenGated: z.boolean().describe('The address holds enough of the gating token'),
    accessLevel: z
      .enum(['basic', 'full'])
      .describe('full: it does, and the identity token names the address as its own'),
  }),
  errors: {
    400: [BAD_ADDRESS],
    401: ['Missing identity token', 'Invalid identity token'],
    403: ['Token gating failed'],
    429: [SLOW_DOWN],
    503: ['Federated identity is not configured', UNAVAILABLE],
  },
});

export const aboutRefresh = endpoint({
  ...federated,
  method: 'GET',
  path: REFRESH,
  summary: 'What the endpoint takes',
  reply: about,
});

export const refresh = endpoint({
  ...federated,
  method: 'POST',
  path: REFRESH,
  summary: 'A new session token for a refresh token, which works once',
  body: z.object({ refreshToken: needed('Missing refresh token') }),
  reply: z.object({
    success: z.literal(true),
    sessionToken: z.string(),
    refreshToken: z.string(),
    expiresIn: z.literal(86_400),
  }),
  errors: { 400: ['Missing refresh token'], 401: ['Invalid refresh token'] },
});

const gate = {
  address: z.string(),
  hasAccess: z.boolean(),
  tokenGated: z.boolean().describe('A gating token is configured'),
  minBalance: z.string().describe("In the token's smallest unit"),
  token: z.string().nullable(),
  chain: z.string(),
};

const MISSING = 'Missing fid or address';

export const checkGating = endpoint({
  ...federated,
  method: 'POST',
  path: GATING,
  summary: 'Whether the wallet of somebody holds enough of the gating token',
  body: z
    .object({
      fid: z.union([needed(MISSING), z.number()], { error: MISSING }),
      address: needed(MISSING),
    })
    .refine(({ address }) => isAddress(address), BAD_ADDRESS),
  reply: z.object({ fid: z.union([z.string(), z.number()]), ...gate, message: z.string(), timestamp }),
  errors: { 400: [MISSING, BAD_ADDRESS], 429: [SLOW_DOWN], 503: [UNAVAILABLE] },
});

const BAD_QUERY = 'Invalid or missing address parameter';

export const readGating = endpoint({
  ...federated,
  method: 'GET',
  path: GATING,
  summary: 'Whether a wallet holds enough of the gating token',
  query: z.object({ address: z.string({ error: BAD_QUERY }).refine(isAddress, BAD_QUERY) }),
  reply: z.object({ ...gate, contractAddress: z.string().nullable() }),
  errors: { 400: [BAD_QUERY], 429: [SLOW_DOWN], 503: [UNAVAILABLE] },
});
