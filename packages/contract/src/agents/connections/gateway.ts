import { z } from 'zod';
import { success } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { PROXY } from '../gateway.ts';
import { asked, attached, listed, MISSING, OWNERS_SERVER, server, tested, UPDATE_ERRORS, updated } from './fields.ts';

/** What stands behind web's endpoints, in the agent's gateway. */
const gateway = {
  service: 'backend',
  tag: 'Gateway',
  auth: 'none',
  errors: {
    401: ['Unauthorized'],
    403: ['Only the owner may do this'],
    404: [AGENT_NOT_FOUND, MISSING],
    409: [OWNERS_SERVER],
    502: ['Agent is not running'],
  },
} as const;
const ofAgent = z.object({ agentId: z.string() });
const ofServer = z.object({ agentId: z.string(), id: z.string() });
const SERVERS = `${PROXY}/mcp-servers`;

export const list = endpoint({
  ...gateway,
  method: 'GET',
  path: SERVERS,
  summary: 'MCP servers, and how they are',
  params: ofAgent,
  reply: listed,
});

export const attach = endpoint({
  ...gateway,
  method: 'PUT',
  path: `${SERVERS}/:id`,
  summary: 'Attach an MCP server',
  params: ofServer,
  body: server,
  reply: attached,
});

export const remove = endpoint({
  ...gateway,
  method: 'DELETE',
  path: `${SERVERS}/:id`,
  summary: 'Remove an MCP server',
  params: ofServer,
  reply: success,
});

export const test = endpoint({
  ...gateway,
  method: 'POST',
  path: `${SERVERS}/:id/test`,
  summary: 'Try an MCP server now',
  params: ofServer,
  reply: tested,
});

export const update = endpoint({
  ...gateway,
  method: 'POST',
  path: `${SERVERS}/:id/update`,
  summary: 'Take the newest version of a program that is an npm package',
  params: ofServer,
  reply: updated,
  errors: { ...gateway.errors, 400: UPDATE_ERRORS[400], 502: [...gateway.errors[502], ...UPDATE_ERRORS[502]] },
});

export const consent = endpoint({
  ...gateway,
  method: 'POST',
  path: `${SERVERS}/:id/consent`,
  summary: 'Where the owner agrees that the agent uses an MCP server',
  params: ofServer,
  body: z.object({ redirectUri: z.string(), clientUri: z.string().optional(), state: z.string() }),
  reply: asked,
});

export const consented = endpoint({
  ...gateway,
  method: 'POST',
  path: `${SERVERS}/:id/consented`,
  summary: 'What the owner’s agreement brought',
  params: ofServer,
  body: z.object({ code: z.string(), state: z.string(), iss: z.string().optional() }),
  reply: success,
});
