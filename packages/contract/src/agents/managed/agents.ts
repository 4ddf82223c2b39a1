import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { firstOf } from '../ai/v1/fields.ts';
import { AGENT_LIMIT_TEXT, NOT_PASSED_TEXTS, START_TEXTS, TAKEN_TEXTS, TOO_MANY_SKILLS_TEXT } from '../fields.ts';
import { SKILL_NOT_FOUND } from '../skills/fields.ts';
import {
  anyQuery,
  managed,
  metadata,
  metadataChange,
  metadataTold,
  none,
  NOT_YOURS,
  PAGE_TEXTS,
  pageOf,
  REACH_ERRORS,
  timesTold,
} from './fields.ts';

const TOOL = 'tools must be of type agent_toolset_20260401, mcp_toolset or custom';
const MCP =
  'mcp_servers must be of type url, with a name of letters, digits, _ and -, and an address that begins with http';
const MCP_TWICE = 'mcp_servers must have different names';
const LATER = 'mcp_servers: attach and take servers away with PUT and DELETE /api/agents/:id/mcp-servers/:name';
const PAIRS = 'tools must have one mcp_toolset for each of mcp_servers, and for nothing else';
const SKILLS = 'skills must be of type custom: those of your library, by skill_id';
const MULTI = 'multiagent: make a team instead, with POST /api/teams';
const EFFORT = 'model: effort, speed and inference_geo cannot be set for an agent here';
/** As much as the configuration of an agent may have. */
const TOOLS_KB = 64;
const LARGE = `tools may have ${TOOLS_KB} KB together`;
const CONFIGS = 'configs: the toolset is given as a whole; leave configs out';

const policy = z.object({ type: z.enum(['always_allow', 'always_ask']) });
const tool = z.discriminatedUnion(
  'type',
  [
    z.object({
      type: z.literal('agent_toolset_20260401'),
      configs: none(CONFIGS),
      default_config: z.object({ enabled: z.boolean().nullish(), permission_policy: policy.nullish() }).nullish(),
    }),
    z.object({
      type: z.literal('mcp_toolset'),
      mcp_server_name: z.string().min(1).max(40),
      configs: none(CONFIGS),
      default_config: z.object({ enabled: z.literal(true).nullish(), permission_policy: policy.nullish() }).nullish(),
    }),
    z.object({
      type: z.literal('custom'),
      name: z.string().regex(/^[\w.:-]{1,128}$/, 'a tool must have a name of letters, digits, dots, colons and dashes'),
      description: z.string().max(10_000),
      input_schema: z.record(z.string(), z.unknown()),
    }),
  ],
  TOOL,
);
const NEWEST = 'skills: an agent is given the newest version of a skill';
const MODEL = 'model must be the name of a model';
const model = z.union(
  [
    z.string().min(1).max(200),
    z.object({
      id: z.string().min(1).max(200),
      effort: z.null(EFFORT).optional(),
      speed: z.literal('standard', EFFORT).nullish(),
      inference_geo: z.null(EFFORT).optional(),
    }),
  ],
  { error: (issue) => firstOf(issue) ?? MODEL },
);

const common = {
  description: z.string().max(2000).nullish(),
  system: z.string().max(50_000).nullish(),
  tools: z
    .array(tool)
    .max(128)
    .refine((given) => JSON.stringify(given).length <= TOOLS_KB * 1024, LARGE)
    .nullish(),
  mcp_servers: z
    .array(
      z.object({
        type: z.literal('url', MCP),
        name: z.string(MCP).regex(/^[A-Za-z0-9_-]{1,40}$/, MCP),
        url: z.url({ protocol: /^https?$/, error: MCP }).max(2000, MCP),
      }),
    )
    .max(20)
    .refine((given) => new Set(given.map(({ name: one }) => one)).size === given.length, MCP_TWICE)
    .nullish(),
  skills: z
    .array(
      z.object({
        type: z.literal('custom', SKILLS),
        skill_id: z.string(SKILLS).min(1).max(200),
        version: z.string().max(200).nullish(),
      }),
    )
    .max(100)
    .nullish(),
  multiagent: z.null(MULTI).optional(),
};
const name = z.string().trim().min(1, 'name required').max(200);

const agent = z.object({
  type: z.literal('agent'),
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  system: z.string().nullable(),
  model: z.object({ id: z.string(), speed: z.literal('standard') }),
  tools: z.array(z.looseObject({ type: z.string() })),
  mcp_servers: z.array(z.object({ type: z.literal('url'), name: z.string(), url: z.string() })),
  skills: z.array(z.object({ type: z.literal('custom'), skill_id: z.string(), version: z.string() })),
  multiagent: z.null(),
  metadata: metadataTold,
  version: z.number(),
  ...timesTold,
});

export const createAgent = endpoint({
  ...managed.make,
  path: '/v1/agents',
  summary: 'Make and start an agent, as clients of Anthropic’s Managed Agents do; with any model',
  body: z.object({ ...common, name, model, metadata: metadata.nullish() }),
  reply: agent,
  errors: {
    400: [NOT_YOURS, MODEL, PAIRS, NEWEST, TOO_MANY_SKILLS_TEXT],
    402: ['A paid plan is required. Choose a plan at /pricing', AGENT_LIMIT_TEXT],
    404: ['User not found', SKILL_NOT_FOUND],
    409: TAKEN_TEXTS,
    500: START_TEXTS,
    503: ['Provisioning is temporarily disabled. Contact support.'],
  },
});

export const getAgent = endpoint({
  ...managed.read,
  path: '/v1/agents/:id',
  summary: 'An agent, or one of its versions',
  query: anyQuery.extend({ version: z.coerce.number('version must be a number').int().optional() }),
  reply: agent,
  errors: { 400: [NOT_YOURS], 404: [...REACH_ERRORS[404], 'Version not found'] },
});

export const updateAgent = endpoint({
  ...managed.change,
  path: '/v1/agents/:id',
  summary: 'Change an agent: a new version of it; with `version`, only if that is the newest',
  body: z.object({
    ...common,
    name: name.optional(),
    model: model.optional(),
    metadata: metadataChange.nullish(),
    version: z.int().optional(),
  }),
  reply: agent,
  errors: {
    ...REACH_ERRORS,
    400: [NOT_YOURS, MODEL, PAIRS, LATER, NEWEST, TOO_MANY_SKILLS_TEXT],
    404: [...REACH_ERRORS[404], SKILL_NOT_FOUND],
    409: ['The agent has version <number> meanwhile', ...NOT_PASSED_TEXTS],
  },
});

export const listAgents = endpoint({
  ...managed.list,
  path: '/v1/agents',
  summary: 'The caller’s agents, whoever made them, the newest last',
  reply: pageOf(agent),
  errors: { 400: PAGE_TEXTS },
});

export const archiveAgent = endpoint({
  ...managed.change,
  path: '/v1/agents/:id/archive',
  summary: 'Take no new sessions for an agent; those that it has go on',
  reply: agent,
  errors: { 400: [NOT_YOURS], 404: REACH_ERRORS[404] },
});

export const listAgentVersions = endpoint({
  ...managed.listWithin,
  path: '/v1/agents/:id/versions',
  summary: 'What an agent was, the newest first; the last fifty are kept',
  reply: pageOf(agent),
  errors: { 400: PAGE_TEXTS, 404: REACH_ERRORS[404] },
});
