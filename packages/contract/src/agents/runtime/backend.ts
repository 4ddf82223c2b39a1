import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND, agentPage, agentParams, agentStats, agentStatus, denied } from '../fields.ts';

const base = { service: 'backend', tag: 'Runtime', auth: 'internal' } as const;

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/runtime/instances',
  summary:
    'Every agent that is, or should be, run here, newest last; of the user in x-user-id alone, if there is one. A page that is full has another after it',
  query: agentPage,
  reply: z.object({
    instances: z.array(
      z.object({
        agentId: z.string(),
        name: z.string(),
        image: z.string(),
        status: agentStatus,
        createdAt: timestamp,
        version: z.string(),
        metadata: z.object({
          userId: z.string(),
          plan: z.string(),
          model: z.string(),
          teamId: z.string().nullable(),
          driver: z.string(),
        }),
      }),
    ),
    count: z.number(),
  }),
  errors: denied,
});

export const getStats = endpoint({
  ...base,
  method: 'GET',
  path: '/api/runtime/instances/:id/stats',
  summary: 'Live figures of one agent',
  params: agentParams,
  reply: agentStats.extend({ plan: z.string(), runtimeVersion: z.string() }),
  errors: { ...denied, 404: [AGENT_NOT_FOUND] },
});

/** What agents can do on this installation. */
export const abilities = z.object({
  shell: z.object({ reason: z.string().nullable().describe('Why commands cannot run; null: they can') }),
  browser: z.object({ reason: z.string().nullable().describe('Why there is no browser; null: there is one') }),
});

export const getAbilities = endpoint({
  ...base,
  method: 'GET',
  path: '/api/runtime/abilities',
  summary: 'What agents can do on this installation',
  reply: abilities,
  errors: denied,
});
