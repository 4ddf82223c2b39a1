import { z } from 'zod';
import { nullableTimestamp, success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import * as conversations from './conversations/web.ts';
import { ANSWER_LENGTH, ANSWER_TOO_LONG, question } from './conversations/fields.ts';

const about = { id: z.string(), agentId: z.string(), agentName: z.string(), at: timestamp };

/** What waits for a person: a decision, or somebody to talk to. */
const item = z.discriminatedUnion('kind', [
  z.object({
    ...about,
    kind: z.literal('approval'),
    sessionId: z.string(),
    tool: z.string(),
    /** As the model wrote them: usually JSON. */
    args: z.string(),
    question: question.optional().describe('It waits for words, not for consent'),
  }),
  z.object({
    ...about,
    kind: z.literal('visitor'),
    sessionId: z.string(),
    state: z.enum(['waiting', 'person']),
    widgetTitle: z.string(),
    origin: z.string(),
    words: z.string().describe('What the visitor said last'),
  }),
]);
export type InboxItem = z.output<typeof item>;

/** Money that an agent may not spend on its own. */
const waitingPayment = z.object({
  id: z.string(),
  agentId: z.string(),
  agentName: z.string(),
  amount: z.string(),
  currency: z.string(),
  recipient: z.string(),
  endpoint: z.string().nullable(),
  method: z.string(),
  createdAt: timestamp,
});
export type WaitingPayment = z.output<typeof waitingPayment>;

export const MARK_STATES = ['later', 'done', 'decided'] as const;
export const MARK_WORDS = 300;

const mark = z.object({
  item: z.string().describe('The id of what was marked; of a notice, `notice-` and its id'),
  state: z.enum(MARK_STATES).describe('`decided` is a record: what was decided has happened'),
  until: nullableTimestamp.describe('When it comes back'),
  words: z.string(),
  taskId: z.string().nullable().describe('The task that was switched off by it'),
  markedAt: timestamp,
});
export type InboxMark = z.output<typeof mark>;

const base = { service: 'web', auth: 'session', tag: 'Inbox', errors: { 401: ['Unauthorized'] } } as const;

export const get = endpoint({
  ...base,
  method: 'GET',
  path: '/api/inbox',
  summary:
    'What waits for a person in all of the own agents, the oldest first: tool calls, visitors of widgets, and the oldest 50 payments; and what was put off, done with or decided, the newest first',
  reply: z.object({
    items: z.array(item),
    payments: z.array(waitingPayment).describe('POST /api/agents/:id/payments/:paymentId decides'),
    hasMore: z.boolean().describe('More of either waits than is told'),
    marks: z.array(mark),
  }),
});

const BAD_ITEM = 'item must be the id of something in the inbox';
const BAD_STATE = 'state must be later, done or decided';
const BAD_UNTIL = 'until must be a time within a year from now, and only of what is put off';
const LONG_WORDS = `words too long (max ${MARK_WORDS})`;
const params = z.object({ item: z.string().regex(/^[\w.-]{1,200}$/, BAD_ITEM) });

export const put = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/inbox/marks/:item',
  summary: 'Put something in the inbox off until a time, be done with it, or note what was decided. It decides nothing',
  params,
  body: z.object({
    state: z.enum(MARK_STATES, { error: BAD_STATE }),
    until: z.iso.datetime({ error: BAD_UNTIL }).optional(),
    words: z.string().max(MARK_WORDS, LONG_WORDS).default(''),
    taskId: z.string().max(200).optional().describe('With `decided`: the task that was switched off'),
  }),
  reply: mark,
  errors: { ...base.errors, 400: [BAD_UNTIL], 404: ['Task not found'] },
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/inbox/marks/:item',
  summary: 'Undo: what was put off or done with waits again, and a task that was switched off is on again',
  params,
  reply: success,
  errors: {
    ...base.errors,
    404: ['Nothing to undo'],
    409: ['What was decided has happened: it cannot be undone'],
  },
});

/** Done to several at once. */
export const MOST_AT_ONCE = 50;
const HOW_MANY = `Name 1 to ${MOST_AT_ONCE} items, each once`;
const words = z.string().max(MARK_WORDS, LONG_WORDS).default('');
const hasEachOnce = (ids: readonly string[]): boolean => new Set(ids).size === ids.length;

export const putSeveral = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/inbox/marks',
  summary: 'The same for several at once: all of them are marked, or none. It decides nothing',
  body: z.object({
    items: z
      .array(z.object({ item: params.shape.item, words }), HOW_MANY)
      .min(1, HOW_MANY)
      .max(MOST_AT_ONCE, HOW_MANY)
      .refine((items) => hasEachOnce(items.map(({ item: id }) => id)), HOW_MANY),
    state: z.enum(['later', 'done'], { error: 'state must be later or done' }),
    until: z.iso.datetime({ error: BAD_UNTIL }).optional(),
  }),
  reply: z.object({ marks: z.array(mark) }),
  errors: { ...base.errors, 400: [BAD_UNTIL] },
});

export const UNLIKE = 'Only calls of one tool can be allowed together';
export const ONE_ANSWER = 'Questions and calls of tools cannot be answered together';

export const decide = endpoint({
  ...base,
  method: 'POST',
  path: '/api/inbox/decisions',
  summary:
    'Allow or refuse several calls of one tool, or give several questions one answer; what cannot be decided any more is named, and the others are',
  body: z.object({
    items: z
      .array(z.object({ id: z.string().min(1).max(200), agentId: z.string().min(1).max(200), words }), HOW_MANY)
      .min(1, HOW_MANY)
      .max(MOST_AT_ONCE, HOW_MANY)
      .refine((items) => hasEachOnce(items.map(({ id }) => id)), HOW_MANY),
    approved: z.boolean('approved must be true or false'),
    answer: z
      .string()
      .max(ANSWER_LENGTH, ANSWER_TOO_LONG)
      .optional()
      .describe('The words for questions; with a refusal: why, which the agents read'),
  }),
  reply: z.object({
    decided: z.array(z.object({ id: z.string(), error: z.string().nullable().describe('Null: it is decided') })),
  }),
  errors: { ...base.errors, 409: [UNLIKE, ONE_ANSWER] },
  passesOn: () => [conversations.decide],
});
