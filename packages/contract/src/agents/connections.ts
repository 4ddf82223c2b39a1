import { z } from 'zod';
import { AGENT_NOT_FOUND } from './fields.ts';
import { success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** MCP servers whose tools an agent uses: attached, tried, connected and removed by its owner. */

const MISSING = 'MCP server not found';
const BAD_SERVER_NAME = 'A server is named by letters, digits, - and _';
const base = {
  service: 'web',
  auth: 'session',
  tag: 'MCP servers',
  errors: {
    400: [
      'Give either url or command',
      BAD_SERVER_NAME,
      'The agent’s own tools are named <name>: choose another name',
      'Invalid request body',
      'Too many arguments',
      'An agent has <n> MCP servers at most',
      'A program asks nobody for access',
    ],
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND, MISSING, 'Not found'],
    501: [
      'An agent that runs elsewhere cannot be connected: give it a header instead',
      'This agent has no MCP servers',
    ],
    502: [
      'Agent backend unavailable',
      'Agent is not running',
      'The server names no page to ask at',
      'The server’s registration or tokens are too large to be kept',
      'The server’s authorization failed: <reason>',
    ],
  },
} as const;

const agent = z.object({ id: z.string() });
const one = z.object({ id: z.string(), name: z.string() });
const named = one.extend({ name: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, BAD_SERVER_NAME) });

const texts = z.record(z.string().max(200), z.string().max(10_000));
const server = z.object({
  url: z
    .url({ protocol: /^https?$/ })
    .max(2000)
    .optional()
    .describe('Of a service'),
  headers: texts.optional().describe('Sent to a service; kept sealed, and never shown again'),
  command: z.string().min(1).max(1000).optional().describe('Of a program, which runs in the agent’s sandbox'),
  args: z.array(z.string().max(4000)).max(100).optional(),
  env: texts.optional().describe('Of a program; kept sealed, and never shown again'),
  tools: z.array(z.string().max(200)).max(200).optional().describe('The only tools that are offered; all unless said'),
});

const state = {
  state: z
    .enum(['unused', 'connected', 'failed', 'consent'])
    .describe('`consent`: it asks for access, which its owner gives by connecting it'),
  error: z.string().optional().describe('Why it cannot be used'),
  offered: z.array(z.string()).optional().describe('Tools, as the model knows them'),
  at: timestamp.optional().describe('When it was last tried'),
};

const shown = z.object({
  name: z.string(),
  url: z.string().optional(),
  command: z.string().optional(),
  args: z.array(z.string()),
  headers: z.array(z.string()).describe('Names alone'),
  env: z.array(z.string()).describe('Names alone'),
  tools: z.array(z.string()).optional(),
});
export type AttachedServer = z.output<typeof shown>;

const list = z.object({ servers: z.array(shown.extend(state)), count: z.number() });
const attached = z.object({ server: shown });
const tested = z.object({ name: z.string(), ...state });
const asked = z.object({ url: z.string().nullable().describe('Where to agree; null: access is there already') });

export const listMcpServers = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/mcp-servers',
  summary: 'MCP servers of an agent, and how they are',
  params: agent,
  reply: list,
});

export const attachMcpServer = endpoint({
  ...base,
  method: 'PUT',
  path: '/api/agents/:id/mcp-servers/:name',
  summary: 'Attach an MCP server to an agent, or replace the one of that name',
  params: named,
  body: server,
  reply: attached,
});

export const removeMcpServer = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/mcp-servers/:name',
  summary: 'Remove an MCP server, and what opened it',
  params: one,
  reply: success,
});

export const testMcpServer = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/mcp-servers/:name/test',
  summary: 'Try an MCP server now: the answer has its tools, or why it cannot be used',
  params: one,
  reply: tested,
});

export const connectMcpServer = endpoint({
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

export const finishMcpServer = endpoint({
  ...base,
  auth: 'cookie',
  method: 'GET',
  path: '/api/mcp/callback',
  summary: 'Called by the browser after its owner agreed; redirects to the agent’s page',
  query: z.object({ code: text, state: text, iss: text, error: text }),
  status: 302,
});

export const clientDocument = endpoint({
  service: 'web',
  tag: 'MCP servers',
  auth: 'none',
  method: 'GET',
  path: '/oauth/client.json',
  summary: 'What Troupe is as a client of MCP servers: its client id is this address',
  reply: z.looseObject({ client_id: z.string(), redirect_uris: z.array(z.string()) }),
});

/** The parts of the agent's gateway that stand behind these. */
const gateway = {
  service: 'backend',
  tag: 'Gateway',
  auth: 'none',
  errors: {
    401: ['Unauthorized'],
    403: ['Only the owner may do this'],
    404: [AGENT_NOT_FOUND, MISSING],
    502: ['Agent is not running'],
  },
} as const;
const ofAgent = z.object({ agentId: z.string() });
const ofServer = z.object({ agentId: z.string(), id: z.string() });
const SERVERS = '/api/runtime/proxy/:agentId/mcp-servers';

export const gatewayMcpServers = endpoint({
  ...gateway,
  method: 'GET',
  path: SERVERS,
  summary: 'MCP servers, and how they are',
  params: ofAgent,
  reply: list,
});
export const gatewayAttachServer = endpoint({
  ...gateway,
  method: 'PUT',
  path: `${SERVERS}/:id`,
  summary: 'Attach an MCP server',
  params: ofServer,
  body: server,
  reply: attached,
});
export const gatewayDetachServer = endpoint({
  ...gateway,
  method: 'DELETE',
  path: `${SERVERS}/:id`,
  summary: 'Remove an MCP server',
  params: ofServer,
  reply: success,
});
export const gatewayTestServer = endpoint({
  ...gateway,
  method: 'POST',
  path: `${SERVERS}/:id/test`,
  summary: 'Try an MCP server now',
  params: ofServer,
  reply: tested,
});
export const gatewayConsent = endpoint({
  ...gateway,
  method: 'POST',
  path: `${SERVERS}/:id/consent`,
  summary: 'Where the owner agrees that the agent uses an MCP server',
  params: ofServer,
  body: z.object({ redirectUri: z.string(), clientUri: z.string().optional(), state: z.string() }),
  reply: asked,
});
export const gatewayConsented = endpoint({
  ...gateway,
  method: 'POST',
  path: `${SERVERS}/:id/consented`,
  summary: 'What the owner’s agreement brought',
  params: ofServer,
  body: z.object({ code: z.string(), state: z.string(), iss: z.string().optional() }),
  reply: success,
});
