import { z } from 'zod';
import { agentName, agentStatus, provisionBody, templates } from '../agent-fields.ts';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { tooLong } from '../fields.ts';

const base = { service: 'backend', tag: 'Deployments', auth: 'internal' } as const;
const denied = { 401: ['Unauthorized'], 403: ['Forbidden'] } as const;

const MISSING_ID = 'agentId is required';
const BAD_ID = 'Invalid agentId';

const agentId = z
  .string({ error: MISSING_ID })
  .min(1, MISSING_ID)
  .max(128, BAD_ID)
  .regex(/^[A-Za-z0-9_-]+$/, BAD_ID);

const channelToken = z.string().trim().max(1000).optional();

const deployment = z.object({
  agentId,
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
export type Deployment = z.output<typeof deployment>;

const container = z.object({ id: z.string(), name: z.string(), status: z.string() });

export const deployAgent = endpoint({
  ...base,
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
    400: [MISSING_ID, BAD_ID, 'Invalid plan'],
    ...denied,
    402: ['A paid plan is required. Choose a plan at /pricing'],
    429: ['Deployment rate limit exceeded.'],
    503: ['Provisioning is temporarily disabled. Contact support.'],
  },
});

export const deployTeam = endpoint({
  ...base,
  method: 'POST',
  path: '/api/deployments/team',
  summary: 'Run a team from its document; each agent ends running or failed on its own',
  body: z.object({
    teamId: z.string({ error: 'teamId is required' }).regex(/^[A-Za-z0-9_-]{1,64}$/, 'Invalid teamId'),
    yaml: z.string({ error: 'yaml is required' }).min(1, 'yaml is required').max(500_000, tooLong('yaml', 500_000)),
    template: z.string().max(100).optional(),
    agents: z
      .array(deployment)
      .max(50)
      .optional()
      .describe('The ids and plans of agents of the document, by `config.name`; the others go by the owner’s plan'),
  }),
  reply: z.object({
    teamId: z.string(),
    agents: z.array(
      z.object({
        agentId: z.string(),
        name: z.string(),
        status: z.enum(['running', 'failed']),
        url: z.string(),
        error: z.string().optional(),
      }),
    ),
  }),
  errors: {
    400: ['teamId is required', 'yaml is required', 'Invalid plan'],
    ...denied,
    429: ['Deployment rate limit exceeded.'],
  },
});

export const provisionOnBackend = endpoint({
  ...base,
  tag: 'Provisioning',
  method: 'POST',
  path: '/api/provision',
  summary: 'Make and run an agent with its channels; the owner is the user in x-user-id',
  /** With an `agentId` a repeat finds the agent that an earlier try has made. */
  body: provisionBody.extend({ agentId: agentId.optional() }),
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
    400: ['At least one channel token required'],
    ...denied,
    402: ['A paid plan is required. Choose a plan at /pricing'],
    503: ['Provisioning is temporarily disabled. Contact support.'],
  },
});

export const listTeamTemplates = endpoint({
  ...base,
  tag: 'Teams',
  method: 'GET',
  path: '/api/provision/team/templates',
  summary: 'The twelve ready-made teams',
  reply: templates,
  errors: denied,
});
