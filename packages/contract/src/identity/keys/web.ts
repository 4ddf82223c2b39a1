import { z } from 'zod';
import { idParams, nullableTimestamp, planName, success, timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { KEY_NAME_LENGTH, MOST_KEYS } from '../../forms.ts';
import { CONFIRM_FIRST } from '../fields.ts';

const keys = { service: 'web', tag: 'Keys' } as const;

const key = z.object({
  id: z.string(),
  name: z.string(),
  keyPreview: z.string(),
  createdAt: timestamp,
  lastUsed: nullableTimestamp,
  origins: z.array(z.string()),
});

const NAME = 'Name required';
const ORIGIN = 'An origin is a scheme and a host such as https://app.example.org, or *';
/** As browsers write it in the header. */
const origin = z
  .string()
  .max(300, { error: ORIGIN, abort: true })
  .refine((given) => given === '*' || URL.parse(given)?.origin === given, ORIGIN);

const LONG_NAME = 'Name too long (max 64 chars)';

export const list = endpoint({
  ...keys,
  method: 'GET',
  path: '/api/keys',
  auth: 'session',
  summary: 'The own API keys',
  reply: z.object({ keys: z.array(key) }),
  errors: { 401: ['Unauthorized'] },
});

export const create = endpoint({
  ...keys,
  method: 'POST',
  path: '/api/keys',
  auth: 'cookie',
  summary: 'Create an API key; it is shown this once',
  body: z.object({
    name: z
      .string({ error: NAME })
      .trim()
      .min(1, NAME)
      .max(KEY_NAME_LENGTH, LONG_NAME)
      .regex(/^\P{Cc}*$/u, 'Invalid name'),
    origins: z
      .array(origin)
      .max(20)
      .default([])
      .describe('Pages that may call /v1 with this key from a browser; * for all'),
  }),
  reply: z.object({ id: z.string(), name: z.string(), key: z.string(), createdAt: timestamp }),
  status: 201,
  errors: {
    400: [NAME, LONG_NAME, ORIGIN],
    401: ['Unauthorized'],
    403: [CONFIRM_FIRST],
    429: [`Too many keys (max ${MOST_KEYS})`],
  },
});

export const get = endpoint({
  ...keys,
  method: 'GET',
  path: '/api/keys/:id',
  auth: 'session',
  summary: 'One API key',
  params: idParams,
  reply: key,
  errors: { 401: ['Unauthorized'], 404: ['Key not found'] },
});

export const remove = endpoint({
  ...keys,
  method: 'DELETE',
  path: '/api/keys/:id',
  auth: 'session',
  summary: 'Delete an API key; it stops working at once',
  params: idParams,
  reply: success,
  errors: { 401: ['Unauthorized'], 404: ['Key not found'] },
});

export const MISSING_KEY = 'Missing API key';
export const INVALID_KEY = 'Invalid API key';

export const validate = endpoint({
  ...keys,
  method: 'POST',
  path: '/api/keys/validate',
  auth: 'none',
  summary: 'Whose key this is',
  body: z.object({ apiKey: z.string({ error: MISSING_KEY }).min(1, MISSING_KEY) }),
  reply: z.object({
    valid: z.literal(true),
    userId: z.string(),
    email: z.string(),
    plan: planName.nullable(),
    subscriptionStatus: z.string(),
    features: z.array(z.string()),
  }),
  errorFields: { valid: false },
  errors: { 400: [MISSING_KEY], 401: [INVALID_KEY] },
});
