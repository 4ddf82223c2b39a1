import { z } from 'zod';
import { AGENT_NOT_FOUND, MESSAGE_TOO_LARGE, NO_MODEL_TEXTS } from './fields.ts';
import { success, timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { tooLong } from '../fields.ts';
import { SEARCH_LENGTH } from '../forms.ts';
import { FILE_ERRORS, MOST_ATTACHMENTS } from './agent-files.ts';
import { gatewaySession, said, session } from './conversations.ts';

/** Conversations as people keep them: named, pinned, put away, searched, branched, exported, shown to others. */

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

const inSession = z.object({ id: z.string(), sessionId: z.string() });
const agent = z.object({ id: z.string() });

const change = z.object({
  title: z.string().trim().min(1, 'Title required').max(200, tooLong('Title', 200)).optional(),
  pinned: z.boolean().optional(),
  archived: z.boolean().optional(),
});
const changed = z.object({ session });
const branch = z.object({
  id: z.string(),
  branchOf: z.string().nullable(),
  branchAt: z.number().nullable(),
  updatedAt: timestamp,
});
export type Branch = z.output<typeof branch>;
const branches = z.object({ branches: z.array(branch) });
const STEP = 'at must be the number of a step';
const branching = {
  at: z.int(STEP).min(0, STEP).describe('The last step that the branch keeps; 0: it begins anew'),
  id: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'id must be letters, digits, dots and dashes')
    .optional()
    .describe('The same branch under the same id is made once'),
  attachments: z.array(z.string().min(1).max(1000)).max(MOST_ATTACHMENTS).optional(),
  model: z.string().min(1).max(200).optional().describe('In place of the agent’s own, for this message'),
};
const found = z.object({
  messages: z.array(
    z.object({
      sessionId: z.string(),
      seq: z.number(),
      at: timestamp,
      role: z.enum(['user', 'assistant']),
      title: z.string(),
      text: z.string().describe('The words around what was found'),
    }),
  ),
});

export const changeConversation = endpoint({
  ...base,
  method: 'PATCH',
  path: '/api/agents/:id/sessions/:sessionId',
  summary: 'Rename, pin or put away a conversation, with all its branches',
  params: inSession,
  body: change,
  reply: changed,
  passesOn: () => [gatewayDescribe],
});

export const deleteConversation = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/sessions/:sessionId',
  summary: 'Delete a conversation with all its branches',
  params: inSession,
  reply: success,
  passesOn: () => [gatewayRemoveSession],
});

export const listBranches = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions/:sessionId/branches',
  summary: 'The branches of a conversation, the oldest first',
  params: inSession,
  reply: branches,
  passesOn: () => [gatewayBranches],
});

export const branchConversation = endpoint({
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
  passesOn: () => [gatewayBranch],
});

export const searchConversations = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/search',
  summary: 'Messages that have these words, the newest first: up to 50, among the newest 50,000',
  params: agent,
  query: z.object({ q: z.string(`q must have 1 to ${SEARCH_LENGTH} characters`).trim().min(1).max(SEARCH_LENGTH) }),
  reply: found,
  errors: { ...base.errors, 400: ['q must have 1 to 200 characters'] },
  passesOn: () => [gatewaySearch],
});

export const exportConversation = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/sessions/:sessionId/export',
  summary: 'A conversation to keep: what was said as Markdown, or every step as JSON',
  params: inSession,
  query: z.object({ format: z.enum(['markdown', 'json'], 'format must be markdown or json').default('markdown') }),
  produces: 'text/markdown',
  errors: { ...base.errors, 400: ['format must be markdown or json'] },
  passesOn: () => [gatewaySession],
});

const shared = z.object({
  id: z.string(),
  sessionId: z.string(),
  title: z.string(),
  createdAt: timestamp,
});
export type SharedConversation = z.output<typeof shared>;

export const shareConversation = endpoint({
  ...base,
  method: 'POST',
  path: '/api/agents/:id/sessions/:sessionId/share',
  summary: 'A link that shows what was said until now to whoever has it: words only, no files, tools or results',
  params: inSession,
  reply: shared.extend({ url: z.string().describe('Told once') }),
  status: 201,
  errors: {
    ...base.errors,
    400: ['There is nothing to show yet', 'This conversation is too long to be shown (2 MB). Export it instead.'],
    409: ['An agent has 100 links at most. Remove some first.'],
  },
  passesOn: () => [gatewaySession],
});

export const listShares = endpoint({
  ...base,
  method: 'GET',
  path: '/api/agents/:id/shares',
  summary: 'The links that show conversations of an agent',
  params: agent,
  reply: z.object({ shares: z.array(shared) }),
});

export const removeShare = endpoint({
  ...base,
  method: 'DELETE',
  path: '/api/agents/:id/shares/:shareId',
  summary: 'Remove a link: it shows nothing any more',
  params: z.object({ id: z.string(), shareId: z.string() }),
  reply: success,
  errors: { ...base.errors, 404: [AGENT_NOT_FOUND, 'Link not found'] },
});

export const readShare = endpoint({
  service: 'web',
  auth: 'none',
  tag: 'Conversations',
  method: 'GET',
  path: '/api/shared/:token',
  summary: 'A conversation that somebody shows',
  params: z.object({ token: z.string() }),
  reply: z.object({
    title: z.string(),
    agent: z.string(),
    createdAt: timestamp,
    messages: z.array(z.object({ role: z.enum(['user', 'assistant']), text: z.string(), at: timestamp })),
  }),
  errors: { 404: ['This link shows nothing: it was removed, or there never was one'] },
});

/** The parts of the agent's gateway that stand behind these. */
const gateway = {
  service: 'backend',
  tag: 'Gateway',
  auth: 'none',
  errors: { ...base.errors, 403: ['Only the owner may do this'] },
} as const;
const PROXY = '/api/runtime/proxy/:agentId';
const one = z.object({ agentId: z.string(), id: z.string() });

export const gatewayDescribe = endpoint({
  ...gateway,
  method: 'PATCH',
  path: `${PROXY}/sessions/:id`,
  summary: 'Rename, pin or put away a conversation',
  params: one,
  body: change,
  reply: changed,
});

export const gatewayRemoveSession = endpoint({
  ...gateway,
  method: 'DELETE',
  path: `${PROXY}/sessions/:id`,
  summary: 'Delete a conversation with all its branches',
  params: one,
  reply: success,
});

export const gatewayBranches = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/sessions/:id/branches`,
  summary: 'The branches of a conversation',
  params: one,
  reply: branches,
});

export const gatewayBranch = endpoint({
  ...gateway,
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

export const gatewaySearch = endpoint({
  ...gateway,
  method: 'GET',
  path: `${PROXY}/search`,
  summary: 'Messages that have these words',
  params: z.object({ agentId: z.string() }),
  query: z.object({ q: z.string() }),
  reply: found,
  errors: { ...gateway.errors, 400: ['q must have 1 to 200 characters'] },
});
