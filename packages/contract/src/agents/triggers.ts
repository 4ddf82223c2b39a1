import { z } from 'zod';
import { nullableTimestamp, success, timestamp } from '../common.ts';
import { isEmail } from '../email.ts';
import { endpoint } from '../endpoint.ts';
import { run as receipt } from './tasks.ts';

/** What starts a task beside its schedule. */
export const TRIGGER_KINDS = ['webhook', 'file', 'email', 'task'] as const;
export type TriggerKind = (typeof TRIGGER_KINDS)[number];
/** Bytes of one delivery, and characters of what a run is given. */
export const MOST_DELIVERED = 64 * 1024;

const base = { service: 'web', tag: 'Scheduled tasks', auth: 'session' } as const;
const TASK_NOT_FOUND = 'Task not found';
const NOT_FOUND = 'Trigger not found';
const OFF = 'The task is switched off';
const FULL = 'Too many runs of this task wait or ran within the hour';
const KIND = 'kind must be webhook, file, email or task';
const PATTERN = 'pattern must name files of the workspace, such as inbox/*.pdf';
const SENDER = 'sender must be a mail address or @domain';
const OUTCOME = 'outcome must be succeeded, failed or any';
const AFTER = 'afterTaskId required';
const LONG_INPUT = `input too long (max ${MOST_DELIVERED})`;
const KEY = 'key must have 1 to 200 characters';

const trigger = z.object({
  id: z.string(),
  taskId: z.string(),
  kind: z.enum(TRIGGER_KINDS),
  enabled: z.boolean(),
  address: z.string().nullable().describe('webhook: where to POST'),
  pattern: z.string().nullable(),
  sender: z.string().nullable(),
  afterTaskId: z.string().nullable(),
  outcome: z.enum(['succeeded', 'failed', 'any']).nullable(),
  problem: z.string().nullable().describe('Why files could not be looked for'),
  oldSecretUntil: nullableTimestamp,
  lastAt: nullableTimestamp,
  createdAt: timestamp,
});
export type TaskTrigger = z.output<typeof trigger>;

const ofTask = { ...base, params: z.object({ id: z.string() }) };
const one = { ...base, params: z.object({ id: z.string(), triggerId: z.string() }) };
const errors = { 401: ['Unauthorized'], 404: [TASK_NOT_FOUND] } as const;
const ofOne = { ...errors, 404: [NOT_FOUND] } as const;
const secret = z.string().nullable().describe('webhook: whsec_…, shown this once');
const withSecret = z.object({ trigger, secret });

const pattern = z
  .string({ error: PATTERN })
  .trim()
  .min(1, PATTERN)
  .max(300, PATTERN)
  .refine((text) => !text.startsWith('/') && !text.split('/').includes('..'), PATTERN);
const sender = z
  .string({ error: SENDER })
  .trim()
  .toLowerCase()
  .max(320, SENDER)
  .refine((text) => isEmail(text.startsWith('@') ? `x${text}` : text), SENDER);

export const list = endpoint({
  ...ofTask,
  method: 'GET',
  path: '/api/scheduled-tasks/:id/triggers',
  summary: 'What starts a task beside its schedule',
  reply: z.object({ triggers: z.array(trigger) }),
  errors,
});

export const create = endpoint({
  ...ofTask,
  method: 'POST',
  path: '/api/scheduled-tasks/:id/triggers',
  summary:
    'Start a task by a webhook, a file in the workspace, a mail to the agent or the result of another task; a webhook’s secret is shown this once',
  body: z.discriminatedUnion(
    'kind',
    [
      z.object({ kind: z.literal('webhook') }),
      z.object({ kind: z.literal('file'), pattern }),
      z.object({ kind: z.literal('email'), sender: sender.optional() }),
      z.object({
        kind: z.literal('task'),
        afterTaskId: z.string({ error: AFTER }).min(1, AFTER).max(200, AFTER),
        outcome: z.enum(['succeeded', 'failed', 'any'], { error: OUTCOME }).default('succeeded'),
      }),
    ],
    { error: KIND },
  ),
  reply: withSecret,
  status: 201,
  errors: {
    ...errors,
    400: [KIND, PATTERN, SENDER, OUTCOME, AFTER],
    409: ['That would be a circle: these tasks would start each other without end'],
    429: ['A task has <n> triggers at most', 'Trigger limit reached (<n> on your plan). Delete one first.'],
  },
});

export const update = endpoint({
  ...one,
  method: 'PATCH',
  path: '/api/scheduled-tasks/:id/triggers/:triggerId',
  summary: 'Switch a trigger on or off',
  body: z.object({ enabled: z.boolean({ error: 'enabled required' }) }),
  reply: z.object({ trigger }),
  errors: { ...ofOne, 400: ['enabled required'] },
});

export const remove = endpoint({
  ...one,
  method: 'DELETE',
  path: '/api/scheduled-tasks/:id/triggers/:triggerId',
  summary: 'Remove a trigger; its address and secret end at once',
  reply: success,
  errors: ofOne,
});

export const rotate = endpoint({
  ...one,
  method: 'POST',
  path: '/api/scheduled-tasks/:id/triggers/:triggerId/rotate',
  summary: 'A new secret for a webhook, shown this once; the old one ends at once, or after a day',
  body: z.object({ keepOld: z.boolean().optional().describe('The old one counts for a day') }),
  reply: withSecret,
  errors: { ...ofOne, 400: ['Only a webhook has a secret'] },
});

const taken = z.object({
  receiptId: z.string().describe('The run, under /api/scheduled-tasks/:id/runs/:runId'),
  taskId: z.string(),
  duplicate: z.boolean().describe('It was there already, and does not run again'),
});

export const start = endpoint({
  ...ofTask,
  method: 'POST',
  path: '/api/scheduled-tasks/:id/run',
  summary: 'Run a task now, with an input if you like; the same `key` twice runs once',
  body: z.object({
    input: z
      .union([z.string().max(MOST_DELIVERED, LONG_INPUT), z.record(z.string(), z.unknown()), z.array(z.unknown())])
      .optional()
      .describe('Text or JSON that the agent is shown as data'),
    key: z.string({ error: KEY }).min(1, KEY).max(200, KEY).optional(),
  }),
  reply: taken,
  status: 202,
  errors: { ...errors, 400: [LONG_INPUT, KEY], 409: [OFF], 429: [FULL] },
});

export const getRun = endpoint({
  ...base,
  method: 'GET',
  path: '/api/scheduled-tasks/:id/runs/:runId',
  summary: 'What became of one run',
  params: z.object({ id: z.string(), runId: z.string() }),
  reply: receipt,
  errors: { ...errors, 404: ['Run not found'] },
});

export const deliver = endpoint({
  ...base,
  auth: 'none',
  method: 'POST',
  path: '/api/hooks/:triggerId',
  summary:
    'Start a task from elsewhere: signed as Standard Webhooks says, or with the secret as bearer. The body is shown to the agent as data; the same webhook-id twice runs once',
  params: z.object({ triggerId: z.string() }),
  rawBody: true,
  reply: taken,
  status: 202,
  errors: {
    400: ['webhook-id must have 1 to 200 characters'],
    401: ['Invalid signature'],
    404: [NOT_FOUND],
    409: [OFF],
    413: ['A delivery may have 64 KB at most'],
    429: [FULL, 'Too many deliveries', 'Too many requests'],
  },
});
