import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { BAD_ID, container, deploying, deployment, MISSING_ID } from './deploying.ts';
import { AGENT_LIMIT_TEXT, agentStatus, denied, START_TEXTS, TAKEN_TEXTS, UNKNOWN_TOOL_TEXT } from './fields.ts';

export type Deployment = z.output<typeof deployment>;

export const create = endpoint({
  ...deploying,
  method: 'POST',
  path: '/api/deployments',
  summary: 'Run an agent; one that runs already is left alone and answered with 200',
  body: deployment,
  reply: z.object({
    id: z.string(),
    agentId: z.string(),
    subdomain: z.string(),
    url: z.string(),
    status: agentStatus,
    runtimeVersion: z.string(),
    container: container.optional(),
  }),
  status: 201,
  errors: {
    400: [MISSING_ID, BAD_ID, 'Invalid plan', UNKNOWN_TOOL_TEXT],
    ...denied,
    402: ['A paid plan is required. Choose a plan at /pricing', AGENT_LIMIT_TEXT],
    404: ['Agent not found', 'User not found'],
    409: TAKEN_TEXTS,
    429: ['Deployment rate limit exceeded.'],
    500: START_TEXTS,
    503: ['Provisioning is temporarily disabled. Contact support.'],
  },
});
