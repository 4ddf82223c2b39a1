import { z } from 'zod';
import { AGENT_NOT_FOUND, MESSAGE_TOO_LARGE, NO_MODEL_TEXTS } from './fields.ts';
import { success, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { tooLong } from '../fields.ts';
import { FILE_ERRORS, MOST_ATTACHMENTS } from './agent-files.ts';

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

const TOO_MANY_FILES = `At most ${MOST_ATTACHMENTS} attachments`;

const agent = z.object({ id: z.string() });
const inSession = z.object({ id: z.string(), sessionId: z.string() });

export const session = z.looseObject({
  id: z.string(),
  channel: z.string(),
  key: z.string(),
  status: z.enum(['idle', 'open', 'waiting']),
  lastSeq: z.number(),
  createdAt: timestamp,
  updatedAt: timestamp,
  title: z.string().optional().describe('As its owner calls it; its first words until then'),
  pinned: z.boolean().optional(),
  archived: z.boolean().optional(),
  branchOf: z.string().nullable().optional().describe('The session that it branched off from'),
  branchAt: z.number().nullable().optional().describe('The last step that it has in common with that one'),
});
export type SessionHead = z.output<typeof session>;

const spent = z.object({ turns: z.number(), tokens: z.number(), costMicros: z.number(), ms: z.number() });

/** A file that came with a message, and what a model was told of it. */
const attachment = z.looseObject({
  path: z.string(),
  kind: z.enum(['picture', 'pdf', 'text', 'other']),
  mime: z.string(),
  bytes: z.number(),
  note: z.string().optional(),
});
export type Attachment = z.output<typeof attachment>;

/** One step; which fields it has depends on its type. */
const step = z.looseObject({
  seq: z.number(),
  at: timestamp,
  type: z.string(),
  content: z.string().optional(),
  role: z.string().optional(),
  toolCalls: z.array(z.object({ callId: z.string(), tool: z.string(), args: z.string() })).optional(),
  model: z.string().optional(),
  provider: z.string().optional(),
  tokens: z.object({ in: z.number(), out: z.number(), cached: z.number().optional() }).optional(),
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
  attachments: z.array(attachment).optional(),
  /** It was told to stop in the middle of these words. */
  stopped: z.boolean().optional(),
});
export type SessionStep = z.output<typeof step>;

const sessionList = z.object({ sessions: z.array(session), count: z.number() });
/** A page ends at `limit` steps or about 2 MB; the next begins after its last step. */
const sessionSteps = z.object({ session, events: z.array(step), hasMore: z.boolean().optional() });
/** Where the message stands: the session and its number there. */
export const said = z.object({ success: z.literal(true), sessionId: z.string(), seq: z.number() });
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
    latest: z
      .enum(['true'])
      .optional()
      .describe('Of each conversation only the branch that was used last; pinned ones first'),
    archived: z.enum(['true', 'false']).optional().describe('Only those that were put away, or only the others'),
  }),
  reply: sessionList,
  passesOn: () => [gatewaySessions],
});

export const getConversation = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions/:sessionId',
  summary: 'The steps of a session, in order',
  params: inSession,
  query: z.object({ after: wholeQuery(0, 0, 2_147_483_647), limit: wholeQuery(500, 1, 1000) }),
  reply: sessionSteps,
  passesOn: () => [gatewaySession],
});

export const say = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/messages',
  summary: 'Say something to an agent without waiting for its answer: GET /api/live brings it',
  params: agent,
  body: z
    .object({
      message: z.string({ error: 'Message required' }).trim().max(100_000, LONG_MESSAGE),
      topic: z
        .string()
        .trim()
        .max(200)
        .optional()
        .describe('Conversations are kept apart by it; `dashboard` unless said'),
      sessionId: z.string().min(1).max(200).optional().describe('In place of a topic: a conversation that is there'),
      id: z.string().min(1).max(200).optional().describe('The same message under the same id is taken once'),
      attachments: z
        .array(z.string().min(1).max(1000))
        .max(MOST_ATTACHMENTS, TOO_MANY_FILES)
        .optional()
        .describe('Paths of files in the workspace: PUT /api/agents/:id/files/content brings them there'),
      model: z.string().min(1).max(200).optional().describe('In place of the agent’s own, for this message'),
    })
    .refine(({ message, attachments }) => message !== '' || (attachments ?? []).length > 0, 'Message required'),
  reply: said,
  status: 202,
  errors: { ...base.errors, 400: ['Message required', ...NO_MODEL_TEXTS] },
  passesOn: () => [gatewaySay],
});

export const cancelConversation = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/sessions/:sessionId/cancel',
  summary: 'Stop what the agent is doing in a session',
  params: inSession,
  reply: cancelled,
  passesOn: () => [gatewayCancel],
});

export const decideApproval = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/approvals/:approvalId',
  summary: 'Allow or refuse a tool call that waits',
  params: z.object({ id: z.string(), approvalId: z.string() }),
  body: z.object({ approved: z.boolean('approved must be true or false') }),
  reply: success,
  passesOn: () => [gatewayDecide],
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
  passesOn: () => [gatewayForget],
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
  query: z.object({
    limit: z.number(),
    offset: z.number(),
    key: z.string().optional(),
    latest: z.string().optional(),
    archived: z.string().optional(),
  }),
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
  body: z.object({
    content: z.string(),
    key: z.string().optional(),
    session: z.string().optional(),
    id: z.string().optional(),
    attachments: z.array(z.string()).optional(),
    model: z.string().optional(),
  }),
  reply: said,
  status: 202,
  errors: {
    ...gateway.errors,
    400: [...FILE_ERRORS[400], 'Message required', 'key required'],
    404: [...gateway.errors[404], ...FILE_ERRORS[404]],
    409: FILE_ERRORS[409],
    413: [MESSAGE_TOO_LARGE],
    422: FILE_ERRORS[422],
  },
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
  errors: { ...gateway.errors, 404: [AGENT_NOT_FOUND, 'Approval not found'], 409: ['Approval is already decided'] },
});

export const gatewayForget = endpoint({
  ...gateway,
  method: 'DELETE',
  path: `${PROXY}/memory/:id`,
  summary: 'Delete one entry of the memory',
  params: one,
  reply: success,
  errors: { ...gateway.errors, 404: [AGENT_NOT_FOUND, 'Memory not found'] },
});
