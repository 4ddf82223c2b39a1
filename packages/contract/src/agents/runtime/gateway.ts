import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { MESSAGE_TOO_LARGE, SPENT_TEXTS } from '../fields.ts';
import { FILE_ERRORS, TOO_LARGE, TOO_MANY_ATTACHMENTS } from '../files/fields.ts';
import { gateway, PROXY } from '../gateway.ts';
import * as memory from '../memory/gateway.ts';

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

export const completeChat = endpoint({
  ...gateway,
  errorShape: 'openai',
  method: 'POST',
  errors: {
    ...gateway.errors,
    400: [
      'The last message must be from the user',
      'No run of this agent waits for the result of <call>',
      'What is no file of a person’s is text here: leave out the part of type <type>',
      'Pictures and files come inside of a request: an address is not fetched',
      'A picture or file is empty',
      TOO_MANY_ATTACHMENTS,
      ...FILE_ERRORS[400],
    ],
    413: [MESSAGE_TOO_LARGE, TOO_LARGE],
    409: FILE_ERRORS[409],
    422: FILE_ERRORS[422],
    429: [
      ...SPENT_TEXTS,
      'AI provider <name> answered 429',
      'AI rate limit exceeded.',
      'At most <n> requests of more than 1 MB at a time',
    ],
    // Why the model did not answer, in the words of whoever knows.
    502: [...gateway.errors[502], 'The model did not answer', '<reason>'],
  },
  path: `${PROXY}/v1/chat/completions`,
  summary:
    'OpenAI-compatible chat, for the agent’s token, a device’s or an API key of the owner’s; the caller’s tools are called back',
  body: z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })) }),
  reply: z.looseObject({
    id: z.string(),
    choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })),
  }),
});

export const createMessage = endpoint({
  ...gateway,
  errorShape: 'anthropic',
  method: 'POST',
  path: `${PROXY}/v1/messages`,
  summary: 'Anthropic-compatible message; the caller’s tools are called back. The token as bearer or `x-api-key`',
  body: z.looseObject({ messages: z.array(z.looseObject({ role: z.string() })), max_tokens: z.number() }),
  reply: z.looseObject({ id: z.string(), content: z.array(z.looseObject({ type: z.string() })) }),
});

export const createResponse = endpoint({
  ...gateway,
  errorShape: 'openai',
  method: 'POST',
  path: `${PROXY}/v1/responses`,
  summary: 'OpenAI-compatible response; the caller’s tools are called back. Nothing is stored under its id',
  body: z.looseObject({ input: z.union([z.string(), z.array(z.looseObject({}))]) }),
  reply: z.looseObject({ id: z.string(), output: z.array(z.looseObject({ type: z.string() })) }),
});

export const execute = endpoint({
  ...gateway,
  method: 'POST',
  errors: { ...gateway.errors, 413: [MESSAGE_TOO_LARGE] },
  path: `${PROXY}/execute`,
  summary: 'Run a scheduled prompt',
  body: z.object({ taskId: z.string(), prompt: z.string(), runId: z.string().optional() }),
  reply: z.looseObject({
    status: z.enum(['completed', 'waiting', 'failed']),
    output: z.string(),
    error: z.string().optional(),
  }),
});

export const wake = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/heartbeat`,
  summary: 'Wake the agent: it goes on with what is open, without a model call when there is nothing',
  reply: z.looseObject({ success: z.literal(true), worked: z.boolean() }),
});

export const deliver = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/bus`,
  summary: 'Deliver a message of another agent',
  body: z.looseObject({ messageId: z.string() }),
  reply: z.looseObject({ success: z.literal(true) }),
  status: 202,
});

export const getLogs = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/logs`,
  summary: 'The agent’s log, newest first',
  query: z.object({ limit: z.number().optional(), level: z.string().optional(), after: z.string().optional() }),
  reply: z.object({ logs: z.array(logEntry), total: z.number(), limit: z.number() }),
});

export const getMessages = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/messages`,
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

export const callMcp = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/mcp`,
  summary: 'The agent as an MCP server, for its token, an API key of the owner’s, or an access token for this address',
  body: z.looseObject({ jsonrpc: z.literal('2.0') }),
});

export const getMcpMetadata = endpoint({
  ...gateway,
  method: 'GET',
  path: `/.well-known/oauth-protected-resource${PROXY}/mcp`,
  summary: 'Who gives access tokens for an agent’s MCP server (RFC 9728)',
  pages: true,
  reply: z.object({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    resource_name: z.string(),
  }),
});

export const GATEWAY_ENDPOINTS = [
  callMcp,
  completeChat,
  createMessage,
  createResponse,
  execute,
  wake,
  deliver,
  getLogs,
  getMessages,
  memory.get,
  memory.put,
] as const;
