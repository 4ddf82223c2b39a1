import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND, TASK_NOT_FOUND } from '../fields.ts';
import { gateway, PROXY } from '../gateway.ts';
import { oneTask, taskList, taskStopped } from './fields.ts';

const one = {
  ...gateway,
  params: z.object({ agentId: z.string(), id: z.string() }),
  errors: { ...gateway.errors, 404: [AGENT_NOT_FOUND, TASK_NOT_FOUND] },
} as const;

export const list = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/background`,
  summary: 'Work that the agent has in the background, the newest first',
  query: z.object({ limit: z.number(), offset: z.number(), session: z.string().optional() }),
  reply: taskList,
});

export const get = endpoint({
  ...one,
  method: 'GET',
  path: `${PROXY}/background/:id`,
  summary: 'A task in the background, whole',
  reply: oneTask,
});

export const stop = endpoint({
  ...one,
  method: 'POST',
  path: `${PROXY}/background/:id/stop`,
  summary: 'Stop a task in the background',
  reply: taskStopped,
});
