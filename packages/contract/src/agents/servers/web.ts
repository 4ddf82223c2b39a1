import { z } from 'zod';
import { success } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import {
  asked,
  MISSING,
  server,
  SERVER_ERRORS,
  serverName,
  shown,
  state,
  tested,
  UPDATE_ERRORS,
  updated,
} from '../connections/fields.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';

/** MCP servers that belong to a user: every agent has them, also those that are made later, or those that were chosen. */

export const NO_AGENT_TRIES = 'None of your agents that has this server runs: start one, and try again';

const base = {
  service: 'web',
  auth: 'session',
  tag: 'MCP servers',
  errors: {
    400: SERVER_ERRORS[400],
    401: ['Unauthorized'],
    404: [MISSING, AGENT_NOT_FOUND],
    409: ['Your plan has <n> MCP servers at most: remove one, or choose a larger plan', NO_AGENT_TRIES],
    429: ['At most 100 MCP servers'],
    502: SERVER_ERRORS[502],
    503: ['The access to the server is being renewed. Try again in a moment.'],
  },
} as const;

const one = z.object({ name: z.string() });
const approval = z.enum(['allow', 'ask', 'deny']);
const agentIds = z.array(z.string().max(200)).max(1000);

const reach = {
  approval: approval
    .optional()
    .describe('For its tools, where an agent’s own rules say nothing of them; allow unless said'),
  forAll: z.boolean().optional().describe('Every agent has it, also those made later; true unless said'),
  agents: agentIds.optional().describe('Those that have it where not all do'),
};

const ofUser = shown.extend({
  approval,
  forAll: z.boolean(),
  isConnected: z.boolean().describe('Its owner has agreed to be known there'),
  agents: z
    .array(z.object({ agentId: z.string(), name: z.string(), uses: z.boolean(), ...state }))
    .describe('How it is with each agent'),
});
export type UserServer = z.output<typeof ofUser>;

const reply = z.object({ server: ofUser });

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/mcp-servers',
  summary: 'MCP servers of all of your agents, and how they are with each',
  reply: z.object({ servers: z.array(ofUser), count: z.number(), most: z.number().describe('By your plan') }),
});

export const save = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/mcp-servers/:name',
  summary: 'Make an MCP server for all of your agents, or replace the one of that name',
  params: z.object({ name: serverName }),
  body: server.extend(reach),
  reply,
});

export const change = endpoint({
  ...base,
  method: 'PATCH',
  path: '/api/mcp-servers/:name',
  summary: 'Change who has an MCP server, which of its tools, and what is asked about; its secrets stay',
  params: one,
  body: z.object({
    ...reach,
    tools: z.array(z.string().max(200)).max(200).nullable().optional().describe('null: all'),
  }),
  reply,
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/mcp-servers/:name',
  summary: 'Remove an MCP server, what opened it, and what runs with it',
  params: one,
  reply: success,
});

const byAgent = z.object({
  agentId: z.string().max(200).optional().describe('Who tries it; the first that runs unless said'),
});

export const test = endpoint({
  ...base,
  method: 'POST',
  path: '/api/mcp-servers/:name/test',
  summary: 'Have an agent try an MCP server now: the answer has its tools, or why it cannot be used',
  params: one,
  body: byAgent,
  reply: tested.extend({ agentId: z.string() }),
});

export const update = endpoint({
  ...base,
  method: 'POST',
  path: '/api/mcp-servers/:name/update',
  summary: 'Take the newest version of a program that is an npm package, and pin it for all agents',
  params: one,
  body: byAgent,
  reply: updated,
  errors: {
    ...base.errors,
    400: [...base.errors[400], ...UPDATE_ERRORS[400]],
    502: [...base.errors[502], ...UPDATE_ERRORS[502]],
  },
});

export const connect = endpoint({
  ...base,
  auth: 'cookie',
  method: 'POST',
  path: '/api/mcp-servers/:name/connect',
  summary: 'Ask for access to an MCP server (OAuth) for all of your agents: the answer says where you agree',
  params: one,
  reply: asked,
});
