import { z } from 'zod';
import { idParams, nullableTimestamp, success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** What a browser can be told of, and whether it is unless its owner says otherwise. */
export const PUSH_KINDS = { approval: true, payment: true, task_failed: true, task_done: false } as const;
export type PushKind = keyof typeof PUSH_KINDS;

const base = { service: 'web', tag: 'Push', auth: 'session' } as const;
const ENDPOINT_TEXT = 'endpoint must be an address that begins with https://';
const KEYS_TEXT = 'keys must be the p256dh and auth of a push subscription';
const UNAUTHORIZED = ['Unauthorized'];

const base64url = (bytes: number) =>
  z
    .string({ error: KEYS_TEXT })
    .regex(/^[\w-]+={0,2}$/, KEYS_TEXT)
    .refine((text) => Math.floor((text.replaceAll('=', '').length * 3) / 4) === bytes, KEYS_TEXT);

const subscription = z.object({
  id: z.string(),
  endpoint: z.string(),
  name: z.string(),
  createdAt: timestamp,
  toldAt: nullableTimestamp.describe('When a push service last took something for it'),
});
export type PushSubscriptionRow = z.output<typeof subscription>;

export const get = endpoint({
  ...base,
  method: 'GET',
  path: '/api/push',
  summary: 'The browsers that are told, of what, and the key that a new one subscribes with',
  reply: z.object({
    publicKey: z.string().describe('`applicationServerKey`, base64url'),
    kinds: z
      .record(z.string(), z.boolean())
      .describe('Changed as `push_<kind>` in `notifications` of PATCH /api/settings'),
    subscriptions: z.array(subscription),
  }),
  errors: { 401: UNAUTHORIZED },
});

export const subscribe = endpoint({
  ...base,
  method: 'POST',
  path: '/api/push/subscriptions',
  summary: 'Tell a browser, by Web Push; one that is known is renewed',
  body: z.object({
    endpoint: z
      .string({ error: ENDPOINT_TEXT })
      .max(2000, { error: ENDPOINT_TEXT, abort: true })
      .refine((given) => /^https?:$/.test(URL.parse(given)?.protocol ?? ''), ENDPOINT_TEXT),
    keys: z.object({ p256dh: base64url(65), auth: base64url(16) }, { error: KEYS_TEXT }),
    name: z.string().trim().min(1).max(100).default('A browser').describe('How you call it'),
  }),
  reply: z.object({ subscription }),
  status: 201,
  errors: { 400: [ENDPOINT_TEXT, KEYS_TEXT], 401: UNAUTHORIZED, 429: ['Too many browsers (max 20)'] },
});

export const unsubscribe = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/push/subscriptions/:id',
  summary: 'Tell a browser nothing any more',
  params: idParams,
  reply: success,
  errors: { 401: UNAUTHORIZED, 404: ['Browser not found'] },
});

export const test = endpoint({
  ...base,
  method: 'POST',
  path: '/api/push/test',
  summary: 'Send a message to every browser that is told',
  reply: z.object({ browsers: z.number() }),
  status: 202,
  errors: { 401: UNAUTHORIZED, 404: ['No browser is told yet'], 429: ['Too many messages are waiting'] },
});
