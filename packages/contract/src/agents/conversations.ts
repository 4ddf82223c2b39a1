import { z } from 'zod';
import { AGENT_NOT_FOUND } from './fields.ts';
import { success, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { needed, tooLong } from '../fields.ts';

/** An agent's sessions step by step, and what waits for its owner's decision. */

const base = {
  service: 'web',
  auth: 'session',
  tag: 'Conversations',
  errors: {
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND, 'Session not found'],
    502: ['Agent backend unavailable', 'Agent is not running'],
  },
} as const;

const LONG_MESSAGE = tooLong('Message', 100_000);

const agent = z.object({ id: z.string() });
const inSession = z.object({ id: z.string(), sessionId: z.string() });

const session = z.looseObject({
  id: z.string(),
  channel: z.string(),
  key: z.string(),
  status: z.enum(['idle', 'open', 'waiting']),
  lastSeq: z.number(),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const spent = z.object({ turns: z.number(), tokens: z.number(), costMicros: z.number(), ms: z.number() });

/** One step; which fields it has depends on its type. */
const step = z.looseObject({
  seq: z.number(),
  at: timestamp,
  type: z.string(),
  content: z.string().optional(),
  role: z.string().optional(),
  toolCalls: z.array(z.object({ callId: z.string(), tool: z.string(), args: z.string() })).optional(),
  model: z.string().optional(),
  spent: spent.optional(),
  callId: z.string().optional(),
  tool: z.string().optional(),
  args: z.string().optional(),
  isError: z.boolean().optional(),
  approvalId: z.string().optional(),
  approved: z.boolean().optional(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  summary: z.string().optional(),
  /** It was told to stop in the middle of these words. */
  stopped: z.boolean().optional(),
});
export type SessionStep = z.output<typeof step>;

const sessionList = z.object({ sessions: z.array(session), count: z.number() });
/** A page ends at `limit` steps or about 2 MB; the next begins after its last step. */
const sessionSteps = z.object({ session, events: z.array(step), hasMore: z.boolean().optional() });
/** Where the message stands: the session and its number there. */
const said = z.object({ success: z.literal(true), sessionId: z.string(), seq: z.number() });
const cancelled = z.object({ success: z.literal(true), cancelled: z.boolean() });

export const listConversations = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions',
  summary: 'Sessions of an agent, the newest first',
  params: agent,
  query: z.object({
    limit: wholeQuery(50, 1, 100),
    offset: wholeQuery(0, 0, 1_000_000),
    key: z
      .string()
      .max(200)
      .optional()
      .describe('Only those of this key: the topic that was given, `dashboard` otherwise'),
  }),
  reply: sessionList,
});

export const getConversation = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions/:sessionId',
  summary: 'The steps of a session, in order',
  params: inSession,
  query: z.object({ after: wholeQuery(0, 0, 2_147_483_647), limit: wholeQuery(500, 1, 1000) }),
  reply: sessionSteps,
});

export const say = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/messages',
  summary: 'Say something to an agent without waiting for its answer: GET /api/live brings it',
  params: agent,
  body: z.object({
    message: needed('Message required').max(100_000, LONG_MESSAGE),
    topic: z
      .string()
      .trim()
      .max(200)
      .optional()
      .describe('Conversations are kept apart by it; `dashboard` unless said'),
    id: z.string().min(1).max(200).optional().describe('The same message under the same id is taken once'),
  }),
  reply: said,
  status: 202,
  errors: { ...base.errors, 400: ['Message required', LONG_MESSAGE] },
});

export const cancelConversation = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/sessions/:sessionId/cancel',
  summary: 'Stop what the agent is doing in a session',
  params: inSession,
  reply: cancelled,
});

export const decideApproval = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/approvals/:approvalId',
  summary: 'Allow or refuse a tool call that waits',
  params: z.object({ id: z.string(), approvalId: z.string() }),
  body: z.object({ approved: z.boolean('approved must be true or false') }),
  reply: success,
});

export const forgetMemory = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/memory',
  summary: 'Delete one entry of what the agent remembers',
  body: z.object({ agentId: z.string(), key: z.string() }),
  reply: success,
  errors: {
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND, 'Memory not found'],
    502: ['Agent backend unavailable', 'Agent is not running'],
  },
});

/** The parts of the agent's gateway that stand behind these. */
const gateway = {
  service: 'backend',
  tag: 'Gateway',
  auth: 'none',
  errors: {
    401: ['Unauthorized'],
    403: ['Only the owner may do this'],
    404: [AGENT_NOT_FOUND, 'Session not found'],
    502: ['Agent is not running'],
  },
} as const;
const ofAgent = z.object({ agentId: z.string() });
const one = z.object({ agentId: z.string(), id: z.string() });
const PROXY = '/api/runtime/proxy/:agentId';

export const gatewaySessions = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/sessions`,
  summary: 'Sessions, the newest first',
  params: ofAgent,
  query: z.object({ limit: z.number(), offset: z.number(), key: z.string().optional() }),
  reply: sessionList,
});

export const gatewaySession = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/sessions/:id`,
  summary: 'A session and its steps',
  params: one,
  query: z.object({ after: z.number(), limit: z.number() }),
  reply: sessionSteps,
});

export const gatewaySay = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/messages`,
  summary: 'Say something and go; whoever follows the session hears the answer',
  params: ofAgent,
  body: z.object({ content: z.string(), key: z.string(), id: z.string().optional() }),
  reply: said,
  status: 202,
});

export const gatewayFollow = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/sessions/:id/events`,
  summary: 'The steps of a session as they happen, after Last-Event-ID',
  params: one,
  produces: 'text/event-stream',
});

export const gatewayApprovals = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/approvals`,
  summary: 'Tool calls that wait for the owner',
  params: ofAgent,
  reply: z.object({
    approvals: z.array(
      z.looseObject({
        approvalId: z.string(),
        sessionId: z.string(),
        tool: z.string(),
        args: z.string(),
        requestedAt: timestamp,
      }),
    ),
    hasMore: z.boolean().optional(),
  }),
});

export const gatewayCancel = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/sessions/:id/cancel`,
  summary: 'Stop what is being done in a session',
  params: one,
  reply: cancelled,
});

export const gatewayDecide = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/approvals/:id`,
  summary: 'Allow or refuse a tool call that waits',
  params: one,
  body: z.object({ approved: z.boolean() }),
  reply: success,
});

export const gatewayForget = endpoint({
  ...gateway,
  method: 'DELETE',
  path: `${PROXY}/memory/:id`,
  summary: 'Delete one entry of the memory',
  params: one,
  reply: success,
});
