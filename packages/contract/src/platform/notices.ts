import { z } from 'zod';
import { nullableTimestamp, success, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const base = { service: 'web', auth: 'session', tag: 'Notices', errors: { 401: ['Unauthorized'] } } as const;

export const notice = z.object({
  id: z.string(),
  kind: z.enum([
    'agent_failed',
    'task_failing',
    'device_waiting',
    'spend_cap_near',
    'installation_quiet',
    'message_failed',
    'payment_waiting',
    'access_asked',
    'defaults_not_taken',
  ]),
  message: z.string(),
  link: z.string().nullable(),
  createdAt: timestamp,
  readAt: nullableTimestamp,
});
export type Notice = z.output<typeof notice>;

/** Of one user. */
export const MOST_NOTICE_STREAMS = 40;
export const TOO_MANY_NOTICE_STREAMS = `A user has ${MOST_NOTICE_STREAMS} streams of notices at most`;

export const list = endpoint({
  ...base,
  errors: { ...base.errors, 429: [TOO_MANY_NOTICE_STREAMS] },
  method: 'GET',
  path: '/api/notices',
  summary: 'What needs attention, newest first; with `Accept: text/event-stream`, new ones as they come',
  query: z.object({ limit: wholeQuery(50, 1, 100) }),
  reply: z.object({ notices: z.array(notice), unread: z.number() }),
});

export const read = endpoint({
  ...base,
  method: 'POST',
  path: '/api/notices/read',
  summary: 'Mark notices as read: the given ones, or all',
  body: z.object({
    ids: z
      .array(z.string().regex(/^\d{1,18}$/))
      .max(1000)
      .optional(),
  }),
  reply: success,
});
