import { z } from 'zod';
import { success } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND, forceQuery, NOT_PASSED_TEXTS } from '../fields.ts';
import {
  asked,
  attached,
  listed,
  MISSING,
  OWNERS_SERVER,
  server,
  SERVER_ERRORS,
  serverName,
  tested,
  UPDATE_ERRORS,
  updated,
} from './fields.ts';

const base = {
  service: 'web',
  auth: 'session',
  tag: 'MCP servers',
  errors: {
    400: [...SERVER_ERRORS[400], 'Invalid request body', 'An agent has <n> MCP servers at most'],
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND, MISSING, 'Not found'],
    409: [...NOT_PASSED_TEXTS, OWNERS_SERVER],
    501: [
      'An agent that runs elsewhere cannot be connected: give it a header instead',
      'This agent has no MCP servers',
    ],
    502: SERVER_ERRORS[502],
  },
} as const;

const agent = z.object({ id: z.string() });
const one = z.object({ id: z.string(), name: z.string() });
const named = one.extend({ name: serverName });

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/mcp-servers',
  summary: 'MCP servers of an agent, and how they are',
  params: agent,
  reply: listed,
});

export const attach = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/agents/:id/mcp-servers/:name',
  summary: 'Attach an MCP server to an agent, or replace the one of that name',
  params: named,
  query: forceQuery,
  body: server,
  reply: attached,
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/mcp-servers/:name',
  summary: 'Remove an MCP server, and what opened it',
  params: one,
  query: forceQuery,
  reply: success,
});

export const test = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/mcp-servers/:name/test',
  summary: 'Try an MCP server now: the answer has its tools, or why it cannot be used',
  params: one,
  reply: tested,
});

export const update = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/mcp-servers/:name/update',
  summary: 'Take the newest version of a program that is an npm package, and pin it',
  params: one,
  reply: updated,
  errors: {
    ...base.errors,
    400: [...base.errors[400], ...UPDATE_ERRORS[400]],
    502: [...base.errors[502], ...UPDATE_ERRORS[502]],
  },
});

export const use = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/agents/:id/mcp-servers/:name/use',
  summary: 'Switch a server of the user’s off for one agent, or on again',
  params: one,
  query: forceQuery,
  body: z.object({ use: z.boolean() }),
  reply: success,
});

export const connect = endpoint({
  ...base,
  auth: 'cookie',
  method: 'POST',
  path: '/api/agents/:id/mcp-servers/:name/connect',
  summary: 'Ask for access to an MCP server (OAuth): the answer says where its owner agrees',
  params: one,
  reply: asked,
});

/** Whatever a browser is sent back with, it must not end on a page of JSON. */
const text = z.string().max(4000).optional().catch(undefined);

export const finish = endpoint({
  ...base,
  auth: 'cookie',
  method: 'GET',
  path: '/api/mcp/callback',
  summary: 'Called by the browser after its owner agreed; redirects to the agent’s page',
  query: z.object({ code: text, state: text, iss: text, error: text }),
  status: 302,
});

export const getClientDocument = endpoint({
  service: 'web',
  tag: 'MCP servers',
  auth: 'none',
  method: 'GET',
  path: '/oauth/client.json',
  summary: 'What Troupe is as a client of MCP servers: its client id is this address',
  reply: z.looseObject({ client_id: z.string(), redirect_uris: z.array(z.string()) }),
});
