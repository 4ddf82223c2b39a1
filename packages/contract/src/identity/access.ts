import { z } from 'zod';
import { idParams, nullableTimestamp, planName, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { tooLong } from '../fields.ts';
import { NOTE_LENGTH } from '../forms.ts';

/** Where nothing is sold, somebody without a plan asks the administrators for one. */

const LONG_NOTE = tooLong('Note', NOTE_LENGTH);
const LONG_ANSWER = tooLong('Answer', 500);
const HAS_PLAN = 'You have a plan already';
const TOO_SOON = 'Ask again a day after the refusal';
const NO_REQUEST = 'Nobody waits under this id';

const access = z.object({
  /** `member`: there is an active plan. */
  state: z.enum(['member', 'none', 'asked', 'refused']),
  plan: planName.nullable(),
  /** Until when the plan was given; null: until it is changed. */
  endsAt: nullableTimestamp,
  /** Plans can be bought here; otherwise an administrator grants them. */
  sold: z.boolean(),
  askedAt: nullableTimestamp,
  note: z.string(),
  /** What the administrator said to a refusal. */
  answer: z.string(),
});
export type Access = z.output<typeof access>;

const own = { service: 'web', tag: 'Access', path: '/api/access', auth: 'session' } as const;

export const get = endpoint({
  ...own,
  method: 'GET',
  summary: 'Whether one may make agents here, and how to come to it',
  reply: access,
  errors: { 401: ['Unauthorized'] },
});

export const ask = endpoint({
  ...own,
  method: 'POST',
  summary: 'Ask the administrators for a plan; asked again, only the note changes',
  body: z.object({ note: z.string().trim().max(NOTE_LENGTH, LONG_NOTE).default('') }),
  reply: access,
  errors: { 400: [LONG_NOTE], 401: ['Unauthorized'], 409: [HAS_PLAN], 429: [TOO_SOON] },
});

const admin = { service: 'web', tag: 'Administration', auth: 'admin' } as const;
const ADMIN_REQUIRED = 'Admin access required.';

const request = z.object({
  id: z.string().describe('Of the user'),
  name: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  note: z.string(),
  askedAt: timestamp,
});
export type AccessRequest = z.output<typeof request>;

export const list = endpoint({
  ...admin,
  method: 'GET',
  path: '/api/admin/access',
  summary: 'Who waits for access, the first first',
  query: z.object({ limit: wholeQuery(50, 1, 200), offset: wholeQuery(0, 0, 1_000_000) }),
  reply: z.object({ requests: z.array(request), total: z.number() }),
  errors: { 403: [ADMIN_REQUIRED] },
});

export const decide = endpoint({
  ...admin,
  method: 'POST',
  path: '/api/admin/access/:id',
  summary: 'Grant a plan to somebody who asked, or refuse; they are told live and by mail',
  params: idParams,
  body: z.union(
    [
      z.object({ grant: planName }),
      z.object({ refuse: z.literal(true), answer: z.string().trim().max(NOTE_LENGTH, LONG_ANSWER).default('') }),
    ],
    'grant must be a plan, or refuse true',
  ),
  reply: z.object({ success: z.literal(true) }),
  errors: { 400: ['grant must be a plan, or refuse true'], 403: [ADMIN_REQUIRED], 404: [NO_REQUEST] },
});

export const getOffers = endpoint({
  service: 'web',
  auth: 'none',
  tag: 'Joining',
  method: 'GET',
  path: '/api/offers',
  summary: 'Whether plans can be bought here; prices mean something only then',
  reply: z.object({ sold: z.boolean() }),
});
