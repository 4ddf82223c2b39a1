import { z } from 'zod';
import { nullableTimestamp, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

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
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type ScheduledTask = z.output<typeof task>;

const MISSING = 'Missing required fields: name, cronSchedule, prompt, agentId';
const required = (max: number) => z.string({ error: MISSING }).trim().min(1, MISSING).max(max);
const fields = {
  description: z.string().max(2000).nullable().optional(),
  enabled: z.boolean().optional(),
  timezone: z.string().max(64).optional(),
};
const TASK_ID = 'taskId required';
const taskId = z.string({ error: TASK_ID }).min(1, TASK_ID);

export const listTasks = endpoint({
  ...base,
  method: 'GET',
  summary: 'Scheduled tasks, newest first',
  query: z.object({ agentId: z.string().optional() }),
  reply: z.object({ tasks: z.array(task), count: z.number() }),
  errors: { 401: ['Unauthorized'] },
});

export const createTask = endpoint({
  ...base,
  method: 'POST',
  status: 201,
  summary: 'Schedule a prompt for an agent',
  body: z.object({
    name: required(200),
    cronSchedule: required(200),
    prompt: required(100_000),
    agentId: required(200),
    ...fields,
  }),
  reply: task,
  errors: {
    400: [MISSING, 'Invalid cron schedule', 'Invalid timezone'],
    401: ['Unauthorized'],
    404: ['Agent not found'],
  },
});

export const updateTask = endpoint({
  ...base,
  method: 'PUT',
  summary: 'Change a task',
  body: z.object({
    taskId,
    name: z.string().trim().min(1).max(200).optional(),
    cronSchedule: z.string().max(200).optional(),
    prompt: z.string().trim().min(1).max(100_000).optional(),
    ...fields,
  }),
  reply: task,
  errors: {
    400: [TASK_ID, 'Invalid cron schedule', 'Invalid timezone'],
    401: ['Unauthorized'],
    404: ['Task not found'],
  },
});

export const deleteTask = endpoint({
  ...base,
  method: 'DELETE',
  summary: 'Delete a task and its history',
  body: z.object({ taskId: taskId.optional() }),
  query: z.object({ taskId: z.string().optional() }),
  reply: z.object({ success: z.literal(true), taskId: z.string() }),
  errors: { 400: [TASK_ID], 401: ['Unauthorized'], 404: ['Task not found'] },
});

export const listTaskRuns = endpoint({
  ...base,
  method: 'GET',
  path: '/api/scheduled-tasks/:id/runs',
  summary: 'What came of each due occurrence, newest first',
  params: z.object({ id: z.string() }),
  query: z.object({ limit: wholeQuery(50, 1, 200) }),
  reply: z.object({
    runs: z.array(
      z.object({
        id: z.string(),
        dueAt: timestamp,
        occurrences: z.number(),
        startedAt: timestamp,
        finishedAt: nullableTimestamp,
        status: z.enum(['running', 'succeeded', 'failed', 'skipped']),
        output: z.string().nullable(),
        error: z.string().nullable(),
      }),
    ),
    count: z.number(),
  }),
  errors: { 401: ['Unauthorized'], 404: ['Task not found'] },
});
