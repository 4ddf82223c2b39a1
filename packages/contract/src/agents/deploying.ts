import { z } from 'zod';
import { agentName } from './fields.ts';

/** What the endpoints that run something new have in common. */
export const deploying = { service: 'backend', tag: 'Deployments', auth: 'internal' } as const;

export const MISSING_ID = 'agentId is required';
export const BAD_ID = 'Invalid agentId';

export const newAgentId = z
  .string({ error: MISSING_ID })
  .min(1, MISSING_ID)
  .max(128, BAD_ID)
  .regex(/^[A-Za-z0-9_-]+$/, BAD_ID);

const channelToken = z.string().trim().max(1000).optional();

export const deployment = z.object({
  agentId: newAgentId,
  config: z
    .looseObject({
      name: agentName('Agent name is required').optional(),
      plan: z.string().max(50).optional(),
      model: z.string().trim().min(1).max(200).optional(),
      aiProvider: z.string().max(50).optional(),
      apiKey: z.string().max(1000).optional(),
      channelTokenA: channelToken,
      channelTokenB: channelToken,
      channelTokenC: channelToken,
      ownerIds: z.array(z.string().max(200)).max(100).optional(),
      instruction: z.string().max(50_000).optional(),
      tools: z.array(z.string().max(50)).max(20).optional(),
    })
    .prefault({}),
});

export const container = z.object({ id: z.string(), name: z.string(), status: z.string() });
