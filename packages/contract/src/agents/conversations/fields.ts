import { z } from 'zod';
import { timestamp } from '../../common.ts';
import { tooLong } from '../../fields.ts';
import { AGENT_NOT_FOUND } from '../fields.ts';
import { MOST_ATTACHMENTS } from '../files/fields.ts';

/** What web's endpoints about conversations have in common. */
export const base = {
  service: 'web',
  auth: 'session',
  tag: 'Conversations',
  errors: {
    401: ['Unauthorized'],
    404: [AGENT_NOT_FOUND, 'Session not found'],
    502: ['Agent backend unavailable', 'Agent is not running'],
  },
} as const;

export const ofAgent = z.object({ id: z.string() });
export const inSession = z.object({ id: z.string(), sessionId: z.string() });

const session = z.looseObject({
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

export const ANSWER_LENGTH = 20_000;
export const ANSWER_TOO_LONG = tooLong('answer', ANSWER_LENGTH);
/** What an agent asks its person. */
export const question = z.object({
  message: z.string(),
  title: z.string().optional(),
  options: z.array(z.string()).optional().describe('Answers to choose from; any other will do as well'),
});
export type Question = z.output<typeof question>;

export const decision = z.object({
  approved: z.boolean('approved must be true or false'),
  answer: z
    .string()
    .max(ANSWER_LENGTH, ANSWER_TOO_LONG)
    .optional()
    .describe('Words, where a question waits for them; with a refusal: why, which the agent reads'),
});

/** What an agent may do without asking: a tool, and no wider than said. */
export const standingRule = z.object({
  tool: z.string().min(1).max(200),
  within: z.string().min(1).max(2000).nullable(),
  folder: z.string().max(2000).optional(),
  since: timestamp.optional(),
  from: z.string().max(200).optional(),
});
export const TOO_MANY_RULES = 'An agent has at most 200 rules: remove one in its settings';
export const RULE_TEXTS = ['A rule must hold for the call that waits', TOO_MANY_RULES];
/** What is decided, and whether it holds from now on. */
export const lasting = decision.extend({
  always: z
    .object({ within: z.string().min(1).max(2000).nullable() })
    .optional()
    .describe(
      'With approved: such calls of this tool are not asked about any more. `within` is the file, its folder with `/**` behind it, the host or the command of this call; null: whatever a call says (not for commands)',
    ),
});

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
  tokens: z
    .object({ in: z.number(), out: z.number(), cached: z.number().optional(), thought: z.number().optional() })
    .optional(),
  spent: spent.optional(),
  callId: z.string().optional(),
  tool: z.string().optional(),
  args: z.string().optional(),
  isError: z.boolean().optional(),
  approvalId: z.string().optional(),
  approved: z.boolean().optional(),
  question: question.optional().describe('It waits for words, not for consent'),
  answer: z.string().optional(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  leaves: z
    .number()
    .optional()
    .describe(
      'Of the end of a run that was stopped: the first input that came after that; the next run begins with it',
    ),
  summary: z.string().optional(),
  attachments: z.array(attachment).optional(),
  background: z
    .looseObject({ id: z.string(), member: z.string(), status: z.enum(['done', 'failed', 'stopped']) })
    .optional()
    .describe('Nobody said it: it is how work in the background ended'),
  to: z.looseObject({ agentId: z.string(), name: z.string() }).optional().describe('Who answers from here on'),
  /** It was told to stop in the middle of these words. */
  stopped: z.boolean().optional(),
});
export type SessionStep = z.output<typeof step>;

export const sessionList = z.object({ sessions: z.array(session), count: z.number() });
/** A page ends at `limit` steps or about 2 MB; the next begins after its last step. */
export const sessionSteps = z.object({ session, events: z.array(step), hasMore: z.boolean().optional() });
/** Where the message stands: the session and its number there. */
export const said = z.object({ success: z.literal(true), sessionId: z.string(), seq: z.number() });
export const cancelled = z.object({ success: z.literal(true), cancelled: z.boolean() });

export const changing = z.object({
  title: z.string().trim().min(1, 'Title required').max(200, tooLong('Title', 200)).optional(),
  pinned: z.boolean().optional(),
  archived: z.boolean().optional(),
});
export const changed = z.object({ session });
const branch = z.object({
  id: z.string(),
  branchOf: z.string().nullable(),
  branchAt: z.number().nullable(),
  updatedAt: timestamp,
});
export type Branch = z.output<typeof branch>;
export const branches = z.object({ branches: z.array(branch) });
export const STEP = 'at must be the number of a step';
export const branching = {
  at: z.int(STEP).min(0, STEP).describe('The last step that the branch keeps; 0: it begins anew'),
  id: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'id must be letters, digits, dots and dashes')
    .optional()
    .describe('The same branch under the same id is made once'),
  attachments: z.array(z.string().min(1).max(1000)).max(MOST_ATTACHMENTS).optional(),
  model: z.string().min(1).max(200).optional().describe('In place of the agent’s own, for this message'),
  instruction: z
    .string()
    .max(50_000, tooLong('Instruction', 50_000))
    .optional()
    .describe('In place of the agent’s own, for this message'),
};
export const found = z.object({
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
