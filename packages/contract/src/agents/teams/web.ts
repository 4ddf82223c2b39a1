import { z } from 'zod';
import {
  AGENT_LIMIT_TEXT,
  AGENT_NOT_FOUND,
  PLAN_MISMATCH_TEXT,
  PROVISIONING_DISABLED_TEXT,
  SUBSCRIPTION_REQUIRED_TEXT,
  templates,
} from '../fields.ts';
import { idParams, wholeQuery } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { tooLong } from '../../fields.ts';
import * as knowledge from '../knowledge/web.ts';
import * as backend from './backend.ts';
import { BAD_TEAM_TEXTS } from './backend.ts';

const base = { service: 'web', tag: 'Teams', auth: 'session' } as const;

export const PLAN_FOR_TEAMS = 'Team provisioning requires collect, label, or network plan';

const text = z.string();
export const customAgent = z.object({
  name: text.trim().min(1),
  role: text.trim().min(1),
  description: text,
  instruction: text,
  model: text.trim().min(1),
  tools: z.array(text),
  memoryShared: z.boolean(),
  skills: z.array(text).max(100).optional().describe('Names of skills of the library'),
});

const note = z.object({ at: z.string(), says: z.string() });
export const carriedOver = {
  notCarried: z
    .array(note)
    .describe('What the document says and the team does not do: where, and what happens instead'),
  toGive: z.array(note).describe('What you have to add before it works: values that the document does not have'),
};

export const preview = endpoint({
  ...base,
  method: 'POST',
  path: '/api/provision/team/preview',
  summary: 'What a document would become: its agents, and what is not carried over. Nothing is made',
  body: z.object({
    yaml_config: z
      .string({ error: 'yaml_config is required' })
      .min(1, 'yaml_config is required')
      .max(200_000, tooLong('yaml_config', 200_000)),
  }),
  reply: z.object({
    name: z.string(),
    description: z.string(),
    agents: z.array(
      z.object({
        name: z.string(),
        role: z.string(),
        model: z.string(),
        tools: z.array(z.string()),
        servers: z.array(z.string()).describe('MCP servers, by name'),
        subAgents: z.array(z.string()),
      }),
    ),
    ...carriedOver,
    yaml_config: z.string().describe('The document as it would be run'),
  }),
  errors: { 400: BAD_TEAM_TEXTS, 401: ['Unauthorized'] },
});

export const provision = endpoint({
  ...base,
  method: 'POST',
  path: '/api/provision/team',
  summary: 'Run a team: a ready-made one, agents of your own, or a document that an earlier answer gave',
  // The service says what is wrong: its answers carry the list of templates.
  body: z.looseObject({
    plan: z.unknown().optional(),
    templateKey: z.unknown().optional(),
    customAgents: z.array(z.unknown()).max(1000).optional(),
    yaml_config: z.string().max(200_000).optional(),
  }),
  reply: z.object({
    success: z.literal(true),
    teamId: z.string(),
    template: z.string(),
    agents: z.array(
      z.object({
        container: z.string(),
        agentId: z.string(),
        status: z.enum(['running', 'failed']),
        url: z.string(),
        error: z.string().optional(),
      }),
    ),
    ...carriedOver,
    yaml_config: z.string(),
  }),
  failure: 'Team provisioning failed',
  passesOn: () => [backend.deploy, knowledge.create, knowledge.give],
  errors: {
    400: [
      PLAN_FOR_TEAMS,
      'Unknown template <key>',
      'A team on the <plan> plan has at most <n> agents',
      'customAgents.<n>: <reason>',
      ...BAD_TEAM_TEXTS,
    ],
    401: ['Unauthorized'],
    402: [AGENT_LIMIT_TEXT],
    403: [SUBSCRIPTION_REQUIRED_TEXT, PLAN_MISMATCH_TEXT],
    500: ['Team provisioning failed'],
    503: [PROVISIONING_DISABLED_TEXT],
  },
});

export const exportAgent = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/document',
  summary:
    'An agent as a document of docker-agent, to be taken elsewhere: without secrets, and what is not in it named at its top',
  params: idParams,
  produces: 'application/yaml',
  errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] },
});

export const listTemplates = endpoint({
  ...base,
  method: 'GET',
  path: '/api/provision/team/templates',
  summary: 'The twelve ready-made teams',
  reply: templates,
  errors: { 401: ['Unauthorized'] },
});

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/teams',
  summary: 'The own teams, their agents and the documents that they run from',
  query: z.object({ limit: wholeQuery(200, 1, 1000), offset: wholeQuery(0, 0, 1_000_000) }),
  reply: z.object({
    teams: z.array(
      z.object({
        teamId: z.string(),
        name: z.string(),
        template: z.string().nullable(),
        createdAt: z.string(),
        yaml_config: z.string(),
        agents: z.array(z.object({ agentId: z.string(), name: z.string(), status: z.string() })),
      }),
    ),
    count: z.number(),
    /** A page ends at `limit` teams or about 2 MB. */
    hasMore: z.boolean(),
  }),
  errors: { 401: ['Unauthorized'] },
});
