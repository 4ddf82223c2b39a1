import { z } from 'zod';
import { success, timestamp, wholeQuery } from '../../common.ts';
import { endpoint } from '../../endpoint.ts';
import { tooLong } from '../../fields.ts';
import { SEARCH_LENGTH } from '../../forms.ts';
import { NO_MODEL_TEXTS } from '../fields.ts';
import { MOST_ATTACHMENTS, TOO_MANY_ATTACHMENTS } from '../files/fields.ts';
import {
  base,
  branches,
  branching,
  cancelled,
  changed,
  changing,
  found,
  inSession,
  ofAgent,
  said,
  sessionList,
  sessionSteps,
  lasting,
  RULE_TEXTS,
} from './fields.ts';
import * as agents from '../agents/backend.ts';
import * as gateway from './gateway.ts';

/** An agent's sessions step by step, and what waits for its owner's decision. */

const LONG_MESSAGE = tooLong('Message', 100_000);

export const list = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions',
  summary: 'Sessions of an agent, the newest first',
  params: ofAgent,
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
  passesOn: () => [gateway.list],
});

export const get = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions/:sessionId',
  summary: 'The steps of a session, in order',
  params: inSession,
  query: z.object({ after: wholeQuery(0, 0, 2_147_483_647), limit: wholeQuery(500, 1, 1000) }),
  reply: sessionSteps,
  passesOn: () => [gateway.get],
});

export const say = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/messages',
  summary: 'Say something to an agent without waiting for its answer: GET /api/live brings it',
  params: ofAgent,
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
        .max(MOST_ATTACHMENTS, TOO_MANY_ATTACHMENTS)
        .optional()
        .describe('Paths of files in the workspace: PUT /api/agents/:id/files/content brings them there'),
      model: z.string().min(1).max(200).optional().describe('In place of the agent’s own, for this message'),
    })
    .refine(({ message, attachments }) => message !== '' || (attachments ?? []).length > 0, 'Message required'),
  reply: said,
  status: 202,
  errors: { ...base.errors, 400: ['Message required', ...NO_MODEL_TEXTS] },
  passesOn: () => [gateway.say],
});

export const cancel = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/sessions/:sessionId/cancel',
  summary: 'Stop what the agent is doing in a session',
  params: inSession,
  reply: cancelled,
  passesOn: () => [gateway.cancel],
});

export const decide = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/approvals/:approvalId',
  summary: 'Allow or refuse a tool call that waits, or answer a question',
  params: z.object({ id: z.string(), approvalId: z.string() }),
  body: lasting,
  reply: success,
  errors: { ...base.errors, 400: RULE_TEXTS, 404: [...base.errors[404], 'Approval not found'] },
  passesOn: () => [gateway.decide, gateway.listApprovals, agents.update],
});

export const getRules = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/approvals/:approvalId/rules',
  summary:
    'Rules that can be made of a call that waits, the narrowest first, and how many of the newest 20 calls of its tool that were asked about each would have allowed',
  params: z.object({ id: z.string(), approvalId: z.string() }),
  reply: z.object({
    asked: z.number().describe('Calls that were looked at, the one that waits among them'),
    rules: z.array(z.object({ within: z.string().nullable(), folder: z.string().optional(), allows: z.number() })),
  }),
  errors: { ...base.errors, 404: [...base.errors[404], 'Approval not found'] },
  passesOn: () => [gateway.listApprovals, gateway.listAsked],
});

export const change = endpoint({
  ...base,
  method: 'PATCH',
  path: '/api/agents/:id/sessions/:sessionId',
  summary: 'Rename, pin or put away a conversation, with all its branches',
  params: inSession,
  body: changing,
  reply: changed,
  passesOn: () => [gateway.change],
});

export const remove = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/sessions/:sessionId',
  summary: 'Delete a conversation with all its branches',
  params: inSession,
  reply: success,
  passesOn: () => [gateway.remove],
});

export const listBranches = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions/:sessionId/branches',
  summary: 'The branches of a conversation, the oldest first',
  params: inSession,
  reply: branches,
  passesOn: () => [gateway.listBranches],
});

export const branch = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/sessions/:sessionId/branches',
  summary:
    'Go on from an earlier step: a branch with the steps up to it, and the message said in it. All that was said stays where it is; files and memory are as they are now',
  params: inSession,
  body: z.object({ ...branching, message: z.string().trim().max(100_000, tooLong('Message', 100_000)).optional() }),
  reply: said,
  status: 201,
  errors: { ...base.errors, 400: NO_MODEL_TEXTS },
  passesOn: () => [gateway.branch],
});

export const search = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/search',
  summary: 'Messages that have these words, the newest first: up to 50, among the newest 50,000',
  params: ofAgent,
  query: z.object({ q: z.string(`q must have 1 to ${SEARCH_LENGTH} characters`).trim().min(1).max(SEARCH_LENGTH) }),
  reply: found,
  errors: { ...base.errors, 400: ['q must have 1 to 200 characters'] },
  passesOn: () => [gateway.search],
});

export const listFiles = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions/:sessionId/files',
  summary:
    'The files that a conversation is about, the newest first: written, read, removed or attached. Of its last 2,000 steps, and 200 files at most; what commands wrote is not known',
  params: inSession,
  reply: z.object({
    files: z.array(
      z.object({
        path: z.string(),
        how: z.enum(['written', 'read', 'removed', 'attached']).describe('What was done to it last'),
        seq: z.number().describe('The step in which that was'),
        at: timestamp,
      }),
    ),
  }),
  passesOn: () => [gateway.get],
});

export const download = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions/:sessionId/export',
  summary: 'A conversation to keep: what was said as Markdown, or every step as JSON',
  params: inSession,
  query: z.object({ format: z.enum(['markdown', 'json'], 'format must be markdown or json').default('markdown') }),
  produces: 'text/markdown',
  errors: { ...base.errors, 400: ['format must be markdown or json'] },
  passesOn: () => [gateway.get],
});
