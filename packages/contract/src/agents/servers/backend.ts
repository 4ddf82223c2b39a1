import { z } from 'zod';
import { success } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { asked, MISSING } from '../connections/fields.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';

/** What stands behind web's endpoints, and what agents that run as programs of their own ask for. */

const ofUser = {
  service: 'backend',
  tag: 'MCP servers',
  auth: 'userContext',
  errors: {
    400: ['A program asks nobody for access', 'Nobody asked for this authorization'],
    401: ['Unauthorized'],
    404: [MISSING],
    502: [
      'The server names no page to ask at',
      'The server’s registration or tokens are too large to be kept',
      'The server’s authorization failed: <reason>',
    ],
    503: ['The access to the server is being renewed. Try again in a moment.'],
  },
} as const;
const named = z.object({ name: z.string() });

export const consent = endpoint({
  ...ofUser,
  method: 'POST',
  path: '/api/mcp-servers/:name/consent',
  summary: 'Where a user agrees that all agents use an MCP server',
  params: named,
  body: z.object({
    redirectUri: z.url({ protocol: /^https?$/ }),
    clientUri: z.url({ protocol: /^https?$/ }).optional(),
    state: z.string().min(16).max(500),
  }),
  reply: asked,
});

export const consented = endpoint({
  ...ofUser,
  method: 'POST',
  path: '/api/mcp-servers/:name/consented',
  summary: 'What the user’s agreement brought',
  params: named,
  body: z.object({
    code: z.string().min(1).max(4000),
    state: z.string().min(1).max(500),
    iss: z.string().max(2000).optional(),
  }),
  reply: success,
});

const ofAgent = {
  service: 'backend',
  tag: 'Runtime',
  auth: 'internalOrKey',
  errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND, MISSING] },
} as const;

const texts = z.record(z.string(), z.string());

/** `x-agent-id` names the agent; an agent's own key means that agent. */
export const listForAgent = endpoint({
  ...ofAgent,
  method: 'GET',
  path: '/v1/mcp_servers',
  summary: 'MCP servers of an agent’s owner that it has, for agents that run as programs of their own',
  reply: z.object({
    servers: z.array(
      z.object({
        shared: z.string(),
        name: z.string(),
        url: z.string().optional(),
        command: z.string().optional(),
        args: z.array(z.string()),
        env: texts,
        headers: texts,
        client: z.object({ id: z.string(), secret: z.string().optional() }).optional(),
        tools: z.array(z.string()).optional(),
        approval: z.enum(['allow', 'ask', 'deny']),
        isOff: z.boolean(),
      }),
    ),
  }),
});

export const tell = endpoint({
  ...ofAgent,
  method: 'POST',
  path: '/v1/mcp_servers/:id/state',
  summary: 'How an MCP server of its owner is with an agent that runs as a program of its own',
  params: z.object({ id: z.string().max(200) }),
  body: z.object({
    state: z.enum(['connected', 'failed', 'consent']),
    error: z.string().max(2000).optional(),
    offered: z.array(z.string().max(200)).max(1000).optional(),
  }),
  reply: success,
});
