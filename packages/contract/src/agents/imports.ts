import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import * as backend from './agents/backend.ts';
import * as files from './files/gateway.ts';
import * as knowledge from './knowledge/web.ts';
import * as memory from './memory/gateway.ts';
import * as skills from './skills/web.ts';
import * as tasks from './tasks.ts';
import { carriedOver, provision } from './teams/web.ts';

const base = { service: 'web', tag: 'Imports', auth: 'session' } as const;

/** Of the bytes that are sent; unpacked they may be twice as much. */
const IMPORT_MB = 32;

const chosen = z.object({
  name: z.string().max(200).default('document').describe('What the file is called'),
  path: z.string().max(500).optional().describe('One document, where an archive has several'),
});

const sent = {
  rawBody: 'bytes',
  bodyLimit: IMPORT_MB * 1024 * 1024,
} as const;

const CANNOT_READ = [
  'The file is empty',
  'Content-Type must be application/octet-stream',
  'Cannot be imported: <reason>',
] as const;

const contents = {
  format: z.enum(['docker-agent', 'openclaw', 'paperclip', 'letta']),
  collections: z
    .array(z.object({ name: z.string(), documents: z.number() }))
    .describe('Of knowledge, with their files'),
  files: z.array(z.object({ agent: z.string(), path: z.string() })).describe('For the workspaces of agents'),
  memories: z.array(z.object({ agent: z.string(), key: z.string() })),
  skills: z.array(z.string()).describe('They wait for a review'),
  tasks: z.array(z.object({ agent: z.string(), name: z.string(), cronSchedule: z.string(), timezone: z.string() })),
  ...carriedOver,
  yaml_config: z.string().describe('The team as it is run'),
};
export const importPreview = z.object({
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
  ...contents,
});

export const preview = endpoint({
  ...base,
  ...sent,
  method: 'POST',
  path: '/api/imports/preview',
  summary:
    'What files of docker-agent, OpenClaw, Paperclip or Letta would become, and what is not carried over. The body is a document or a zip, tar or tar.gz, as application/octet-stream. Nothing is made',
  query: chosen,
  reply: importPreview,
  errors: { 400: CANNOT_READ, 401: ['Unauthorized'] },
});

export const create = endpoint({
  ...base,
  ...sent,
  method: 'POST',
  path: '/api/imports',
  summary:
    'Import them: agents, collections, files, memories, tasks, and skills that wait for a review. All of it, or nothing',
  query: chosen.extend({ plan: z.string().max(50).optional().describe('Left out: the own') }),
  reply: z.object({
    success: z.literal(true),
    teamId: z.string(),
    name: z.string(),
    agents: z.array(z.object({ name: z.string(), agentId: z.string(), url: z.string() })),
    ...contents,
  }),
  status: 201,
  failure: 'Team provisioning failed',
  passesOn: () => [
    provision,
    backend.update,
    files.put,
    memory.put,
    knowledge.create,
    knowledge.upload,
    skills.review,
    tasks.create,
  ],
  errors: {
    400: [...CANNOT_READ, 'Invalid cron schedule', 'Invalid timezone'],
    401: ['Unauthorized'],
    413: ['A file may have <n> MB at most'],
    502: ['The agent <name> could not be started: <reason>', 'Agent backend unavailable'],
  },
});
