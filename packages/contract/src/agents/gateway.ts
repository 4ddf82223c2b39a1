import { z } from 'zod';
import { AGENT_NOT_FOUND, AGENT_STOPPED } from './fields.ts';

export const PROXY = '/api/runtime/proxy/:agentId';

/**
 * The agent's own gateway, below /api/runtime/proxy/:agentId. It asks for the agent's token, an approved device's token,
 * or the platform's own key. These are the parts that the platform itself calls; docs/agents.md has all of them.
 */
export const gateway = {
  service: 'backend',
  tag: 'Gateway',
  auth: 'none',
  params: z.object({ agentId: z.string() }),
  errors: {
    401: ['Unauthorized'],
    403: ['Only the owner may do this'],
    404: [AGENT_NOT_FOUND],
    502: ['Agent is not running'],
    503: [AGENT_STOPPED],
  },
} as const;
