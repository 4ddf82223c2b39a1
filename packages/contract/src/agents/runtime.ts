import { z } from 'zod';
import {
  AGENT_NOT_FOUND,
  AGENT_STOPPED,
  MESSAGE_TOO_LARGE,
  SPENT_TEXTS,
  agentParams,
  agentStats,
  agentStatus,
  denied,
} from './fields.ts';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const base = { service: 'backend', tag: 'Runtime', auth: 'internal' } as const;

export const listInstances = endpoint({
  ...base,
  method: 'GET',
  path: '/api/runtime/instances',
  summary: 'Every agent that is, or should be, run here; of the user in x-user-id alone, if there is one',
  reply: z.object({
    instances: z.array(
      z.object({
        agentId: z.string(),
        name: z.string(),
        image: z.string(),
        status: agentStatus,
        createdAt: timestamp,
        version: z.string(),
        metadata: z.object({
          userId: z.string(),
          plan: z.string(),
          model: z.string(),
          teamId: z.string().nullable(),
          driver: z.string(),
        }),
      }),
    ),
    count: z.number(),
  }),
  errors: denied,
});

export const getInstanceStats = endpoint({
  ...base,
  method: 'GET',
  path: '/api/runtime/instances/:id/stats',
  summary: 'Live figures of one agent',
  params: agentParams,
  reply: agentStats.extend({ plan: z.string(), runtimeVersion: z.string() }),
  errors: { ...denied, 404: [AGENT_NOT_FOUND] },
});

/** What agents can do on this installation. */
export const abilities = z.object({
  shell: z.object({ reason: z.string().nullable().describe('Why commands cannot run; null: they can') }),
});

export const getRuntimeAbilities = endpoint({
  ...base,
  method: 'GET',
  path: '/api/runtime/abilities',
  summary: 'What agents can do on this installation',
  reply: abilities,
  errors: denied,
});

/**
 * The agent's own gateway, below /api/runtime/proxy/:agentId. It asks for the agent's token, an approved device's token,
 * or the platform's own key. These are the parts that the platform itself calls; docs/agents.md has all of them.
 */
const gateway = {
  service: 'backend',
  tag: 'Gateway',
  auth: 'none',
  params: z.object({ agentId: z.string() }),
  errors: {
    401: ['Unauthorized'],
    403: ['Only the owner may do this'],
    404: [AGENT_NOT_FOUND],
    502: ['Agent is not running'],
    503: [AGENT_STOPPED],
  },
} as const;
const under = <P extends string>(path: P) => `/api/runtime/proxy/:agentId${path}` as const;

const logEntry = z.object({
  id: z.string(),
  timestamp,
  level: z.enum(['debug', 'info', 'warn', 'error']),
  message: z.string(),
  source: z.string(),
});
const message = z.object({
  id: z.string(),
  sender: z.enum(['user', 'agent']),
  content: z.string(),
  timestamp,
  platform: z.string(),
});
const memory = z.looseObject({ key: z.string().nullable(), content: z.string(), updatedAt: timestamp });

export const gatewayChat = endpoint({
  ...gateway,
  errorShape: 'openai',
  method: 'POST',
  errors: {
    ...gateway.errors,
    400: [
      'The last message must be from the user',
      'No run of this agent waits for the result of <call>',
      'An agent takes text: leave out the part of type <type>',
    ],
    413: [MESSAGE_TOO_LARGE],
    429: SPENT_TEXTS,
    // Why the model did not answer, in the words of whoever knows.
    502: [...gateway.errors[502], 'The model did not answer', '<reason>'],
  },
  path: under('/v1/chat/completions'),
  summary:
    'OpenAI-compatible chat, for the agent’s token, a device’s or an API key of the owner’s; the caller’s tools are called back',
  body: z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })) }),
  reply: z.looseObject({
    id: z.string(),
    choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })),
  }),
});
export const gatewayCreateMessage = endpoint({
  ...gateway,
  errorShape: 'anthropic',
  method: 'POST',
  path: under('/v1/messages'),
  summary: 'Anthropic-compatible message; the caller’s tools are called back. The token as bearer or `x-api-key`',
  body: z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })), max_tokens: z.number() }),
  reply: z.looseObject({ id: z.string(), content: z.array(z.looseObject({ type: z.string() })) }),
});
export const gatewayCreateResponse = endpoint({
  ...gateway,
  errorShape: 'openai',
  method: 'POST',
  path: under('/v1/responses'),
  summary: 'OpenAI-compatible response; the caller’s tools are called back. Nothing is stored under its id',
  body: z.looseObject({ input: z.union([z.string(), z.array(z.looseObject({}))]) }),
  reply: z.looseObject({ id: z.string(), output: z.array(z.looseObject({ type: z.string() })) }),
});
export const gatewayExecute = endpoint({
  ...gateway,
  method: 'POST',
  errors: { ...gateway.errors, 413: [MESSAGE_TOO_LARGE] },
  path: under('/execute'),
  summary: 'Run a scheduled prompt',
  body: z.object({ taskId: z.string(), prompt: z.string(), runId: z.string().optional() }),
  reply: z.looseObject({
    status: z.enum(['completed', 'waiting', 'failed']),
    output: z.string(),
    error: z.string().optional(),
  }),
});
export const gatewayHeartbeat = endpoint({
  ...gateway,
  method: 'POST',
  path: under('/heartbeat'),
  summary: 'Wake the agent: it goes on with what is open, without a model call when there is nothing',
  reply: z.looseObject({ success: z.literal(true), worked: z.boolean() }),
});
export const gatewayBus = endpoint({
  ...gateway,
  method: 'POST',
  path: under('/bus'),
  summary: 'Deliver a message of another agent',
  body: z.looseObject({ messageId: z.string() }),
  reply: z.looseObject({ success: z.literal(true) }),
  status: 202,
});
export const gatewayLogs = endpoint({
  ...gateway,
  method: 'GET',
  path: under('/logs'),
  summary: 'The agent’s log, newest first',
  query: z.object({ limit: z.number().optional(), level: z.string().optional(), after: z.string().optional() }),
  reply: z.object({ logs: z.array(logEntry), total: z.number(), limit: z.number() }),
});
export const gatewayMessages = endpoint({
  ...gateway,
  method: 'GET',
  path: under('/messages'),
  summary: 'The agent’s conversations, newest first',
  query: z.object({ limit: z.number().optional(), offset: z.number().optional() }),
  reply: z.object({
    messages: z.array(message),
    total: z.number(),
    limit: z.number(),
    offset: z.number(),
    /** A page may end before its limit, at about 2 MB. */
    hasMore: z.boolean().optional(),
  }),
});
export const gatewayMemory = endpoint({
  ...gateway,
  method: 'GET',
  path: under('/memory'),
  summary: 'What the agent remembers, newest first',
  query: z.object({ limit: z.number().optional(), offset: z.number().optional() }),
  reply: z.object({ memories: z.array(memory), count: z.number(), hasMore: z.boolean().optional() }),
});
export const gatewayRemember = endpoint({
  ...gateway,
  method: 'PUT',
  path: under('/memory'),
  summary: 'Write one entry of the agent’s memory',
  body: z.object({ key: z.string(), content: z.string() }),
  reply: z.object({ memory }),
});

export const gatewayMcp = endpoint({
  ...gateway,
  method: 'POST',
  path: under('/mcp'),
  summary: 'The agent as an MCP server, for its token, an API key of the owner’s, or an access token for this address',
  body: z.looseObject({ jsonrpc: z.literal('2.0') }),
});

export const agentResourceMetadata = endpoint({
  ...gateway,
  method: 'GET',
  path: `/.well-known/oauth-protected-resource${under('/mcp')}`,
  summary: 'Who gives access tokens for an agent’s MCP server (RFC 9728)',
  reply: z.object({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    resource_name: z.string(),
  }),
});

export const GATEWAY_ENDPOINTS = [
  gatewayMcp,
  gatewayChat,
  gatewayCreateMessage,
  gatewayCreateResponse,
  gatewayExecute,
  gatewayHeartbeat,
  gatewayBus,
  gatewayLogs,
  gatewayMessages,
  gatewayMemory,
  gatewayRemember,
] as const;
