import { z } from 'zod';
import { success, timestamp } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { AGENT_NOT_FOUND, MESSAGE_TOO_LARGE } from '../fields.ts';
import { FILE_ERRORS } from '../files/fields.ts';
import { PROXY } from '../gateway.ts';
import {
  base,
  branches,
  branching,
  cancelled,
  changed,
  changing,
  found,
  said,
  sessionList,
  sessionSteps,
  STEP,
  decision,
  question,
} from './fields.ts';

/** What stands behind web's endpoints, in the agent's gateway. */
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

export const list = endpoint({
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

export const get = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/sessions/:id`,
  summary: 'A session and its steps',
  params: one,
  query: z.object({ after: z.number(), limit: z.number() }),
  reply: sessionSteps,
});

export const say = endpoint({
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
    tools: z
      .array(z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }))
      .optional(),
    results: z.array(z.object({ callId: z.string(), content: z.string() })).optional(),
    stores: z.object({ session: z.string(), says: z.string() }).optional(),
    guest: z
      .object({ abilities: z.enum(['answers', 'all']), maxTokens: z.number() })
      .optional()
      .describe(
        'It is said by somebody whom the owner lets in: what the agent may use, and how long its answer may be',
      ),
  }),
  reply: said,
  status: 202,
  errors: {
    ...gateway.errors,
    400: [
      ...FILE_ERRORS[400],
      'Message required',
      'key required',
      'No run of this agent waits for the result of <call>',
    ],
    404: [...gateway.errors[404], ...FILE_ERRORS[404]],
    409: FILE_ERRORS[409],
    413: [MESSAGE_TOO_LARGE],
    422: FILE_ERRORS[422],
  },
});

export const note = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/notes`,
  summary: 'Write words down in a conversation with a guest; the agent does not answer them',
  params: ofAgent,
  body: z.object({
    content: z.string(),
    role: z.enum(['user', 'assistant']),
    key: z.string().optional(),
    session: z.string().optional(),
    by: z.string().optional(),
    id: z.string().optional(),
  }),
  reply: said,
  status: 201,
  errors: { ...gateway.errors, 400: ['Message required', 'key required'], 413: [MESSAGE_TOO_LARGE] },
});

export const follow = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/sessions/:id/events`,
  summary: 'The steps of a session as they happen, after Last-Event-ID',
  params: one,
  produces: 'text/event-stream',
});

export const listAsked = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/approvals/asked`,
  summary: 'What the newest 20 calls of a tool said about which the owner was asked',
  params: ofAgent,
  query: z.object({ tool: z.string() }),
  reply: z.object({ calls: z.array(z.looseObject({ args: z.string() })) }),
});

export const listApprovals = endpoint({
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
        question: question.optional(),
        requestedAt: timestamp,
      }),
    ),
    hasMore: z.boolean().optional(),
  }),
});

export const cancel = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/sessions/:id/cancel`,
  summary: 'Stop what is being done in a session',
  params: one,
  reply: cancelled,
});

export const decide = endpoint({
  ...gateway,
  method: 'POST',
  path: `${PROXY}/approvals/:id`,
  summary: 'Allow or refuse a tool call that waits, or answer a question',
  params: one,
  body: decision,
  reply: success,
  errors: { ...gateway.errors, 404: [AGENT_NOT_FOUND, 'Approval not found'], 409: ['Approval is already decided'] },
});

/** As people keep them: named, pinned, put away, searched, branched. */
const keeping = {
  service: 'backend',
  tag: 'Gateway',
  auth: 'none',
  errors: { ...base.errors, 403: ['Only the owner may do this'] },
} as const;

export const change = endpoint({
  ...keeping,
  method: 'PATCH',
  path: `${PROXY}/sessions/:id`,
  summary: 'Rename, pin or put away a conversation',
  params: one,
  body: changing,
  reply: changed,
});

export const remove = endpoint({
  ...keeping,
  method: 'DELETE',
  path: `${PROXY}/sessions/:id`,
  summary: 'Delete a conversation with all its branches',
  params: one,
  reply: success,
});

export const listBranches = endpoint({
  ...keeping,
  method: 'GET',
  path: `${PROXY}/sessions/:id/branches`,
  summary: 'The branches of a conversation',
  params: one,
  reply: branches,
});

export const branch = endpoint({
  ...keeping,
  method: 'POST',
  path: `${PROXY}/sessions/:id/branches`,
  summary: 'Go on from an earlier step',
  params: one,
  body: z.object({ ...branching, content: z.string().optional() }),
  reply: said,
  status: 201,
  errors: {
    ...FILE_ERRORS,
    400: [...FILE_ERRORS[400], STEP, 'There is no step <n>'],
    401: ['Unauthorized'],
    403: ['Only the owner may do this'],
    404: [...FILE_ERRORS[404], 'Session not found'],
    409: [
      ...FILE_ERRORS[409],
      'A branch can begin within the first 10000 steps of a conversation. Start a new one.',
      'A conversation has 100 branches at most. Start a new one.',
    ],
    413: [MESSAGE_TOO_LARGE],
    502: ['Agent is not running'],
  },
});

export const search = endpoint({
  ...keeping,
  method: 'GET',
  path: `${PROXY}/search`,
  summary: 'Messages that have these words',
  params: z.object({ agentId: z.string() }),
  query: z.object({ q: z.string() }),
  reply: found,
  errors: { ...keeping.errors, 400: ['q must have 1 to 200 characters'] },
});
