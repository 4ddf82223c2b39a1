import { z } from 'zod';
import { AGENT_NOT_FOUND } from '../agent-fields.ts';
import { success, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

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
});
export type SessionStep = z.output<typeof step>;

const sessionList = z.object({ sessions: z.array(session), count: z.number() });
/** A page ends at `limit` steps or about 2 MB; the next begins after its last step. */
const sessionSteps = z.object({ session, events: z.array(step), hasMore: z.boolean().optional() });
const cancelled = z.object({ success: z.literal(true), cancelled: z.boolean() });

export const listConversations = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions',
  summary: 'Sessions of an agent, the newest first',
  params: agent,
  query: z.object({ limit: wholeQuery(50, 1, 100), offset: wholeQuery(0, 0, 1_000_000) }),
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
  query: z.object({ limit: z.number(), offset: z.number() }),
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
