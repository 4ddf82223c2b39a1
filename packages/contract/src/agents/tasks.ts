import { z } from 'zod';
import { nullableTimestamp, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { needed, tooLong } from '../fields.ts';
import { CHANNEL_KINDS } from './channels/fields.ts';

const base = { service: 'web', path: '/api/scheduled-tasks', auth: 'session', tag: 'Scheduled tasks' } as const;

const task = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  cronSchedule: z.string(),
  timezone: z.string(),
  prompt: z.string(),
  enabled: z.boolean(),
  lastRun: nullableTimestamp,
  nextRun: nullableTimestamp,
  agentId: z.string(),
  tells: z.enum(CHANNEL_KINDS).nullable().describe('The channel on which its words are told'),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type ScheduledTask = z.output<typeof task>;

/** In place of a schedule: the task starts by its triggers alone. */
export const NO_SCHEDULE = '@triggered';

const MISSING = 'Missing required fields: name, cronSchedule, prompt, agentId';
const required = (name: string, max: number) => needed(MISSING).max(max, tooLong(name, max));
const LONG_NAME = tooLong('Name', 200);
const LONG_SCHEDULE = tooLong('Cron schedule', 200);
const LONG_PROMPT = tooLong('Prompt', 100_000);
const fields = {
  description: z.string().max(2000).nullable().optional(),
  enabled: z.boolean().optional(),
  timezone: z.string().max(64).optional(),
  tells: z
    .enum(CHANNEL_KINDS)
    .nullable()
    .optional()
    .describe(
      'The channel of the agent on which its words are told, to whoever wrote there last and is named under who may write; null: on none',
    ),
};
const TASK_ID = 'taskId required';
const taskId = z.string({ error: TASK_ID }).min(1, TASK_ID);

export const list = endpoint({
  ...base,
  method: 'GET',
  summary: 'Scheduled tasks, newest first',
  query: z.object({
    agentId: z.string().optional(),
    limit: wholeQuery(500, 1, 1000),
    offset: wholeQuery(0, 0, 1_000_000),
  }),
  /** A page ends at `limit` tasks or about 2 MB. */
  reply: z.object({ tasks: z.array(task), count: z.number(), hasMore: z.boolean() }),
  errors: { 401: ['Unauthorized'] },
});

export const create = endpoint({
  ...base,
  method: 'POST',
  status: 201,
  summary: 'Schedule a prompt for an agent',
  body: z.object({
    name: required('Name', 200),
    cronSchedule: required('Cron schedule', 200),
    prompt: required('Prompt', 100_000),
    agentId: required('Agent id', 200),
    ...fields,
  }),
  reply: task,
  errors: {
    400: [MISSING, LONG_NAME, LONG_SCHEDULE, LONG_PROMPT, 'Invalid cron schedule', 'Invalid timezone'],
    401: ['Unauthorized'],
    404: ['Agent not found'],
    429: ['Scheduled task limit reached (<n> on your plan). Delete one first.'],
  },
});

export const update = endpoint({
  ...base,
  method: 'PUT',
  summary: 'Change a task',
  body: z.object({
    taskId,
    name: z.string().trim().min(1).max(200, LONG_NAME).optional(),
    cronSchedule: z.string().max(200, LONG_SCHEDULE).optional(),
    prompt: z.string().trim().min(1).max(100_000, LONG_PROMPT).optional(),
    ...fields,
  }),
  reply: task,
  errors: {
    400: [TASK_ID, LONG_NAME, LONG_SCHEDULE, LONG_PROMPT, 'Invalid cron schedule', 'Invalid timezone'],
    401: ['Unauthorized'],
    404: ['Task not found'],
  },
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  summary: 'Delete a task and its history',
  body: z.object({ taskId: taskId.optional() }),
  query: z.object({ taskId: z.string().optional() }),
  reply: z.object({ success: z.literal(true), taskId: z.string() }),
  errors: { 400: [TASK_ID], 401: ['Unauthorized'], 404: ['Task not found'] },
});

/** A receipt. */
export const run = z.object({
  id: z.string(),
  dueAt: timestamp,
  occurrences: z.number(),
  startedAt: timestamp,
  finishedAt: nullableTimestamp,
  status: z.enum(['waiting', 'running', 'succeeded', 'failed', 'skipped']),
  output: z.string().nullable(),
  error: z.string().nullable(),
  source: z.enum(['schedule', 'webhook', 'api', 'file', 'email', 'task']).describe('What started it'),
  triggerId: z.string().nullable(),
  input: z.string().nullable().describe('What arrived; its beginning once the run is over'),
});

export const listRuns = endpoint({
  ...base,
  method: 'GET',
  path: '/api/scheduled-tasks/:id/runs',
  summary: 'What came of each due occurrence, newest first',
  params: z.object({ id: z.string() }),
  query: z.object({ limit: wholeQuery(50, 1, 200) }),
  reply: z.object({
    runs: z.array(run),
    count: z.number(),
  }),
  errors: { 401: ['Unauthorized'], 404: ['Task not found'] },
});
