import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { container, deploying, newAgentId } from '../deploying.ts';
import {
  AGENT_LIMIT_TEXT,
  agentStatus,
  denied,
  START_TEXTS,
  provisionBody,
  TAKEN_TEXTS,
  TOO_MANY_SKILLS_TEXT,
} from '../fields.ts';

export const create = endpoint({
  ...deploying,
  tag: 'Provisioning',
  method: 'POST',
  path: '/api/provision',
  summary: 'Make and run an agent with its channels; the owner is the user in x-user-id',
  /** With an `agentId` a repeat finds the agent that an earlier try has made. */
  body: provisionBody.extend({ agentId: newAgentId.optional() }),
  reply: z.object({
    success: z.literal(true),
    userId: z.string(),
    agentId: z.string(),
    id: z.string(),
    aiProvider: z.string(),
    aiProviderConfig: z.object({ model: z.string(), baseUrl: z.string(), requiresKey: z.boolean() }),
    plan: z.string(),
    streamKey: z.string(),
    liveStreamId: z.string(),
    rtmpServer: z.string(),
    playbackUrl: z.string().nullable(),
    subdomain: z.string(),
    url: z.string(),
    status: agentStatus,
    createdAt: timestamp,
    metadata: z.object({ channels: z.array(z.string()), streaming: z.boolean() }),
    container: container.optional(),
  }),
  errors: {
    400: ['At least one channel token required', 'Invalid plan', TOO_MANY_SKILLS_TEXT],
    ...denied,
    402: ['A paid plan is required. Choose a plan at /pricing', AGENT_LIMIT_TEXT],
    404: ['User not found'],
    409: TAKEN_TEXTS,
    500: START_TEXTS,
    503: ['Provisioning is temporarily disabled. Contact support.'],
  },
});
