import { z } from 'zod';
import { AGENT_NOT_FOUND } from './fields.ts';
import { nullableTimestamp, success } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { needed } from '../fields.ts';

const base = { service: 'web', tag: 'Heartbeat', path: '/api/heartbeat', auth: 'session' } as const;
const agentId = needed('agentId required');
const BAD_FREQUENCY = 'Invalid frequency. Use a number and m, h or d, for example 3h';
const errors = { 400: ['agentId required'], 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] } as const;

const heartbeat = z.object({
  frequency: z.string(),
  enabled: z.boolean(),
  lastHeartbeat: nullableTimestamp,
  nextHeartbeat: nullableTimestamp,
});

export const get = endpoint({
  ...base,
  method: 'GET',
  summary: 'How often the agent is woken',
  query: z.object({ agentId }),
  reply: z.object({ heartbeat }),
  errors,
});

export const set = endpoint({
  ...base,
  method: 'POST',
  summary: 'Wake the agent every so often; without anything to do it costs nothing',
  body: z.object({
    agentId,
    frequency: z
      .string({ error: BAD_FREQUENCY })
      .trim()
      .regex(/^[1-9]\d{0,3}[mhd]$/, BAD_FREQUENCY)
      .default('3h'),
    enabled: z.boolean().default(true),
  }),
  reply: success.extend({ heartbeat }),
  errors: { ...errors, 400: ['agentId required', BAD_FREQUENCY] },
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  summary: 'Stop waking the agent',
  body: z.object({ agentId }),
  reply: success,
  errors,
});
