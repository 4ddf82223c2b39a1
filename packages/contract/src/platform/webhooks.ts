import { z } from 'zod';
import { idParams, nullableTimestamp, success, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** What an owner can be told of. */
export const WEBHOOK_EVENTS = [
  'run.finished',
  'approval.waiting',
  'task.succeeded',
  'task.failed',
  'payment.waiting',
  'payment.paid',
  'payment.failed',
  'notice.raised',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

const base = { service: 'web', tag: 'Webhooks', auth: 'session' } as const;
const NOT_FOUND = 'Webhook not found';
const URL_TEXT = 'url must be an address that begins with https://';
const EVENTS_TEXT = 'events must name at least one event';
const one = { ...base, params: idParams, errors: { 401: ['Unauthorized'], 404: [NOT_FOUND] } } as const;

const webhook = z.object({
  id: z.string(),
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  enabled: z.boolean(),
  createdAt: timestamp,
});
export type Webhook = z.output<typeof webhook>;

const delivery = z.object({
  id: z.string().describe('What the header webhook-id says'),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
  at: timestamp,
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.number(),
  answered: z.number().nullable().describe('Status of the last answer'),
  problem: z.string().nullable(),
  endedAt: nullableTimestamp,
});
export type WebhookDelivery = z.output<typeof delivery>;

const url = z
  .string({ error: URL_TEXT })
  .trim()
  .max(2000, { error: URL_TEXT, abort: true })
  .refine((given) => /^https?:$/.test(URL.parse(given)?.protocol ?? ''), URL_TEXT);
const events = z
  .array(z.enum(WEBHOOK_EVENTS, { error: EVENTS_TEXT }), { error: EVENTS_TEXT })
  .min(1, EVENTS_TEXT)
  .max(WEBHOOK_EVENTS.length, EVENTS_TEXT);
const withSecret = z.object({ webhook, secret: z.string().describe('whsec_…, shown this once') });

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/webhooks',
  summary: 'Where you are told what happens',
  reply: z.object({ webhooks: z.array(webhook), events: z.array(z.string()) }),
  errors: { 401: ['Unauthorized'] },
});

export const create = endpoint({
  ...base,
  method: 'POST',
  path: '/api/webhooks',
  summary:
    'Be told what happens at an address of yours, signed as Standard Webhooks says; the secret is shown this once',
  body: z.object({ url, events }),
  reply: withSecret,
  status: 201,
  errors: { 400: [URL_TEXT, EVENTS_TEXT], 401: ['Unauthorized'], 429: ['Too many webhooks (max 20)'] },
});

export const update = endpoint({
  ...one,
  method: 'PATCH',
  path: '/api/webhooks/:id',
  summary: 'Change an address, what it is told, or whether',
  body: z.object({ url: url.optional(), events: events.optional(), enabled: z.boolean().optional() }),
  reply: z.object({ webhook }),
  errors: { ...one.errors, 400: [URL_TEXT, EVENTS_TEXT] },
});

export const remove = endpoint({
  ...one,
  method: 'DELETE',
  path: '/api/webhooks/:id',
  summary: 'Tell an address nothing any more; its log goes, too',
  reply: success,
});

export const rotate = endpoint({
  ...one,
  method: 'POST',
  path: '/api/webhooks/:id/rotate',
  summary: 'A new secret, shown this once; for a day both sign',
  reply: withSecret,
});

export const test = endpoint({
  ...one,
  method: 'POST',
  path: '/api/webhooks/:id/test',
  summary: 'Send `webhook.test` there',
  reply: z.object({ deliveryId: z.string() }),
  status: 202,
  errors: { ...one.errors, 429: ['Too many deliveries are waiting'] },
});

export const listDeliveries = endpoint({
  ...one,
  method: 'GET',
  path: '/api/webhooks/:id/deliveries',
  summary: 'What was told, newest first; kept for 30 days, 2,000 at most',
  query: z.object({ limit: wholeQuery(50, 1, 200) }),
  reply: z.object({ deliveries: z.array(delivery) }),
});

export const replay = endpoint({
  ...one,
  method: 'POST',
  path: '/api/webhooks/:id/deliveries/:deliveryId/replay',
  summary: 'Tell it once more, under the same id',
  params: z.object({ id: z.string(), deliveryId: z.string() }),
  reply: z.object({ deliveryId: z.string() }),
  status: 202,
  errors: { ...one.errors, 404: [NOT_FOUND, 'Delivery not found'], 409: ['It is still under way'] },
});
