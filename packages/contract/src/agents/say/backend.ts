import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { BUSY, WAITING } from '../../fields.ts';
import { agentName, UNKNOWN_TOOL_TEXT } from '../fields.ts';
import { TRIED_USD, triedOnce } from './fields.ts';

export const tryOnce = endpoint({
  service: 'backend',
  auth: 'internal',
  tag: 'Runtime',
  method: 'POST',
  path: '/api/say/try',
  summary:
    'Ask an agent that is not there something, once: on the account of who asks, with files that are thrown away',
  body: z.object({
    name: agentName('Agent name is required'),
    plan: z.string().max(50),
    model: z.string().trim().min(1).max(200),
    instruction: z.string().max(50_000),
    tools: z.array(z.string().max(50)).max(50),
    message: z.string().min(1).max(100_000),
    maxUsd: z.number().min(0).max(TRIED_USD),
  }),
  reply: triedOnce,
  errors: {
    400: ['User required', UNKNOWN_TOOL_TEXT],
    401: ['Unauthorized'],
    429: [WAITING],
    499: ['Client closed request'],
    503: [BUSY],
  },
});
