import { z } from 'zod';
import { wholeQuery } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND, TASK_NOT_FOUND } from '../fields.ts';
import * as gateway from './gateway.ts';
import { oneTask, taskList, taskStopped } from './fields.ts';

const base = {
  service: 'web',
  auth: 'session',
  tag: 'Background work',
  errors: {
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND],
    502: ['Agent backend unavailable', 'Agent is not running'],
  },
} as const;
const one = {
  ...base,
  params: z.object({ id: z.string(), taskId: z.string() }),
  errors: { ...base.errors, 404: [AGENT_NOT_FOUND, TASK_NOT_FOUND] },
} as const;

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/background',
  summary: 'Work that an agent has in the background with members of its team, the newest first',
  params: z.object({ id: z.string() }),
  query: z.object({
    limit: wholeQuery(50, 1, 100),
    offset: wholeQuery(0, 0, 1_000_000),
    session: z.string().max(200).optional().describe('Only what this conversation has given'),
  }),
  reply: taskList,
  passesOn: () => [gateway.list],
});

export const get = endpoint({
  ...one,
  method: 'GET',
  path: '/api/agents/:id/background/:taskId',
  summary: 'A task in the background, with its whole result',
  reply: oneTask,
  passesOn: () => [gateway.get],
});

export const stop = endpoint({
  ...one,
  method: 'POST',
  path: '/api/agents/:id/background/:taskId/stop',
  summary: 'Stop a task in the background; the agent is told',
  reply: taskStopped,
  passesOn: () => [gateway.stop],
});
