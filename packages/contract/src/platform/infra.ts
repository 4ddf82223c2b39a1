import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const base = {
  service: 'backend',
  method: 'GET',
  auth: 'internal',
  tag: 'Infrastructure tooling',
  errors: { 401: ['Unauthorized'], 403: ['Forbidden'] },
} as const;

const about = { name: z.string(), version: z.string(), description: z.string() };

export const getHealth = endpoint({
  ...base,
  path: '/api/infra-mcp/health',
  summary: 'State of the infrastructure-tooling gateway',
  reply: z.object({
    ...about,
    status: z.literal('operational'),
    official_repo: z.url(),
    docker_image: z.string(),
    documentation: z.url(),
    timestamp,
  }),
});

export const getInfo = endpoint({
  ...base,
  path: '/api/infra-mcp/info',
  summary: 'What the infrastructure tooling is',
  reply: z.object({
    ...about,
    maintained_by: z.string(),
    repository: z.url(),
    docker_image: z.string(),
    documentation: z.url(),
    setup_guide: z.string(),
    features: z.array(z.string()),
  }),
});

export const getSetup = endpoint({
  ...base,
  path: '/api/infra-mcp/setup',
  summary: 'How to set it up',
  reply: z.object({
    title: z.string(),
    recommended_approach: z.string(),
    quick_start: z.object({ step_1: z.string(), step_2: z.string(), step_3: z.string() }),
    docker_config_example: z.record(z.string(), z.unknown()),
    documentation_links: z.record(z.string(), z.url()),
  }),
});

export const getTools = endpoint({
  ...base,
  path: '/api/infra-mcp/tools',
  summary: 'The tools it offers',
  reply: z.object({
    source: z.url(),
    tool_categories: z.record(z.string(), z.array(z.string())),
    complete_reference: z.url(),
  }),
});

export const getExamples = endpoint({
  ...base,
  path: '/api/infra-mcp/examples',
  summary: 'Things to ask of it',
  reply: z.object({
    description: z.string(),
    examples: z.object({
      service_management: z.array(z.string()),
      deployment_monitoring: z.array(z.string()),
      database_management: z.array(z.string()),
      monitoring_and_logs: z.array(z.string()),
      troubleshooting: z.array(z.string()),
    }),
  }),
});

export const validateConfig = endpoint({
  ...base,
  method: 'POST',
  path: '/api/infra-mcp/validate-config',
  summary: 'Check the form of a key',
  // What is wrong with the key is told in `errors`, so anything is taken here.
  body: z.object({ api_key: z.unknown().optional(), endpoint: z.unknown().optional() }),
  reply: z.object({ valid: z.literal(true), message: z.string(), next_steps: z.array(z.string()) }),
  errors: {
    400: [
      'api_key is required',
      'api_key must start with "rnd_"',
      'api_key must start with "rnd_"; api_key appears too short',
      'api_key appears too short',
    ],
    401: ['Unauthorized'],
    403: ['Forbidden'],
  },
});

export const getDocs = endpoint({
  ...base,
  path: '/api/infra-mcp/docs',
  status: 301,
  summary: 'To the documentation',
});
export const getRepository = endpoint({
  ...base,
  path: '/api/infra-mcp/github',
  status: 301,
  summary: 'To the source code',
});
