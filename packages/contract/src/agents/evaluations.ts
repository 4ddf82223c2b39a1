import { z } from 'zod';
import { idParams, nullableTimestamp, success, timestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { needed, tooLong } from '../fields.ts';
import * as gateway from './conversations/gateway.ts';
import * as agents from './agents/backend.ts';
import { AGENT_NOT_FOUND, agentPurpose, NO_MODEL_TEXTS, settingsObject } from './fields.ts';
import { collectionChange } from './knowledge/fields.ts';
import { skillChange } from './skills/fields.ts';

/** What an agent is tried with before a change of it is taken, and how it did. */

export const MOST_CASES = 200;
export const MOST_CHECKS = 20;
export const CASE_INPUT = 20_000;
export const CASE_SECONDS = { usual: 120, most: 600 };
/** Dollars that one evaluation may cost. */
export const EVALUATION_USD = { usual: 1, most: 100 };
const SCHEMA = 10_000;
const STUB = 10_000;
const MOST_STUBS = 20;

const base = { service: 'web', tag: 'Evaluations', auth: 'session' } as const;
const CASE_NOT_FOUND = 'Case not found';
const EVALUATION_NOT_FOUND = 'Evaluation not found';
const KIND = 'kind must be contains, lacks, regex, schema, called, not_called, cost, time or judge';
const CHECKS = `A case has 1 to ${MOST_CHECKS} checks`;
const COST = `mostUsd must be a number from 0 to ${EVALUATION_USD.most}`;
const SECONDS = `mostSeconds must be a number from 0 to ${CASE_SECONDS.most}`;
const LIMIT = `maxSeconds must be a whole number from 1 to ${CASE_SECONDS.most}`;
const BUDGET = `maxCostUsd must be a number from 0 to ${EVALUATION_USD.most}`;
const CHANGE = 'A change needs config, purpose, skill or collection';
const SKETCH = `schema must be a JSON Schema of at most ${SCHEMA} characters`;

const words = (what: string, most: number) =>
  z
    .string({ error: `${what} required` })
    .min(1, `${what} required`)
    .max(most, tooLong(what, most));
const toolName = z.string({ error: 'tool required' }).min(1, 'tool required').max(200, tooLong('tool', 200));

const check = z.discriminatedUnion(
  'kind',
  [
    z
      .object({ kind: z.literal('contains'), text: words('text', 2000) })
      .describe('In the answer, whatever the capitals'),
    z.object({ kind: z.literal('lacks'), text: words('text', 2000) }),
    z
      .object({ kind: z.literal('regex'), pattern: words('pattern', 1000) })
      .describe('As JavaScript writes it, flags u and i'),
    z
      .object({
        kind: z.literal('schema'),
        schema: settingsObject.refine((schema) => JSON.stringify(schema).length <= SCHEMA, SKETCH),
      })
      .describe('The answer is JSON that fits'),
    z.object({
      kind: z.literal('called'),
      tool: toolName,
      with: z.string().max(1000).optional().describe('Words that its arguments contain'),
    }),
    z.object({ kind: z.literal('not_called'), tool: toolName }),
    z.object({ kind: z.literal('cost'), mostUsd: z.number(COST).min(0, COST).max(EVALUATION_USD.most, COST) }),
    z.object({
      kind: z.literal('time'),
      mostSeconds: z.number(SECONDS).min(0, SECONDS).max(CASE_SECONDS.most, SECONDS),
    }),
    z
      .object({ kind: z.literal('judge'), criteria: words('criteria', 4000) })
      .describe('The agent’s model reads the answer and says whether it fits'),
  ],
  { error: KIND },
);
export type EvaluationCheck = z.output<typeof check>;

const stub = z.object({ tool: toolName, result: z.string().max(STUB, tooLong('result', STUB)) });
export type EvaluationStub = z.output<typeof stub>;

const caseBody = z.object({
  name: needed('Name required').max(100, tooLong('Name', 100)),
  input: words('input', CASE_INPUT).describe('What the agent is told'),
  checks: z.array(check, { error: CHECKS }).min(1, CHECKS).max(MOST_CHECKS, CHECKS),
  stubs: z
    .array(stub)
    .max(MOST_STUBS, `A case has ${MOST_STUBS} answers of tools at most`)
    .default([])
    .describe('What tools answer that are not run in a trial'),
  maxSeconds: z.int(LIMIT).min(1, LIMIT).max(CASE_SECONDS.most, LIMIT).default(CASE_SECONDS.usual),
});
export type EvaluationCaseBody = z.input<typeof caseBody>;

const shownCase = caseBody.extend({
  id: z.string(),
  stubs: z.array(stub),
  maxSeconds: z.number(),
  revision: z.number(),
  updatedAt: timestamp,
});
export type EvaluationCase = z.output<typeof shownCase>;

const ofAgent = { ...base, params: idParams, errors: { 401: ['Unauthorized'], 404: [AGENT_NOT_FOUND] } } as const;
const caseErrors = {
  ...ofAgent.errors,
  400: [CHECKS, KIND, SKETCH, LIMIT, COST, SECONDS],
  409: ['An agent has <n> cases at most', 'The cases of this agent are too large together (max <n> MB)'],
} as const;

export const listCases = endpoint({
  ...ofAgent,
  method: 'GET',
  path: '/api/agents/:id/evaluation-cases',
  summary: 'What the agent is tried with',
  reply: z.object({ cases: z.array(shownCase), max: z.number() }),
});

export const createCase = endpoint({
  ...ofAgent,
  method: 'POST',
  path: '/api/agents/:id/evaluation-cases',
  summary: 'Add a case: what the agent is told, and what is expected of its answer',
  body: caseBody,
  reply: shownCase,
  status: 201,
  errors: caseErrors,
});

export const createCaseFromRun = endpoint({
  ...ofAgent,
  method: 'POST',
  path: '/api/agents/:id/evaluation-cases/from-run',
  summary:
    'Make a case of a finished run: its prompt, the tools that it called, and what those answered that are not run in a trial',
  body: z.object({
    sessionId: words('sessionId', 200),
    run: z.int().min(1).max(2_147_483_647).describe('The step that the run began with'),
  }),
  reply: shownCase,
  status: 201,
  passesOn: () => [gateway.get],
  errors: {
    ...caseErrors,
    404: [AGENT_NOT_FOUND, 'Session not found', 'Run not found'],
    409: [
      ...caseErrors[409],
      'The run is still going on',
      'The run has too many steps to be written down',
      'The prompt of this run is too long for a case (max <n>)',
    ],
    502: ['Agent backend unavailable'],
  },
});

const ofCase = {
  ...base,
  params: z.object({ id: z.string(), caseId: z.string() }),
  errors: { ...ofAgent.errors, 404: [AGENT_NOT_FOUND, CASE_NOT_FOUND] },
} as const;

export const updateCase = endpoint({
  ...ofCase,
  method: 'PUT',
  path: '/api/agents/:id/evaluation-cases/:caseId',
  summary: 'Change a case; what was found with it before stays as it was',
  body: caseBody,
  reply: shownCase,
  errors: { ...caseErrors, ...ofCase.errors },
});

export const removeCase = endpoint({
  ...ofCase,
  method: 'DELETE',
  path: '/api/agents/:id/evaluation-cases/:caseId',
  summary: 'Remove a case',
  reply: success,
});

export const CASE_STATES = ['waiting', 'running', 'passed', 'failed', 'broken', 'interrupted', 'skipped'] as const;
const caseState = z.enum(CASE_STATES);
export type CaseState = z.output<typeof caseState>;

const evaluation = z.object({
  id: z.string(),
  status: z.enum(['running', 'passed', 'failed', 'stopped']),
  isProposal: z.boolean().describe('Tried with a change that the agent did not have'),
  takes: z.boolean().describe('The change is made when all cases pass'),
  takenAt: nullableTimestamp,
  notTaken: z.string().nullable().describe('Why the change was not made'),
  cases: z.number(),
  passed: z.number(),
  over: z.number().describe('Cases that are not waiting or under way any more'),
  costUsd: z.number(),
  createdAt: timestamp,
  finishedAt: nullableTimestamp,
});
export type Evaluation = z.output<typeof evaluation>;

const change = z
  .object({
    config: settingsObject.optional().describe('As PUT /api/agents/:id/config takes it'),
    purpose: agentPurpose.optional(),
    skill: skillChange.optional(),
    collection: collectionChange.optional(),
  })
  .refine((given) => Object.values(given).some((part) => part !== undefined), CHANGE);
export type EvaluationChange = z.output<typeof change>;

const result = z.object({
  caseId: z.string(),
  name: z.string(),
  input: z.string(),
  status: caseState,
  was: caseState.nullable().describe('In the evaluation before; null: the case was not in it'),
  checks: z.array(z.object({ check, passed: z.boolean().nullable(), says: z.string() })),
  answer: z.string().nullable(),
  calls: z.array(
    z.object({
      tool: z.string(),
      args: z.string(),
      isError: z.boolean(),
      isRun: z.boolean().describe('False: it would have acted outside, and was answered or refused instead'),
    }),
  ),
  error: z.string().nullable().describe('Why there is no verdict'),
  tokens: z.number(),
  costUsd: z.number(),
  seconds: z.number(),
});
export type EvaluationResult = z.output<typeof result>;

export const list = endpoint({
  ...ofAgent,
  method: 'GET',
  path: '/api/agents/:id/evaluations',
  summary: 'The evaluations of an agent, newest first, and whether its changes wait for them',
  query: z.object({ limit: wholeQuery(10, 1, 50) }),
  reply: z.object({ evaluations: z.array(evaluation), isGated: z.boolean() }),
});

export const start = endpoint({
  ...ofAgent,
  method: 'POST',
  path: '/api/agents/:id/evaluations',
  summary:
    'Try all cases on the agent as it is, or with a change, in conversations that leave no trace in it. With `takes` the change is made when all have passed',
  body: z.object({
    change: change.optional(),
    takes: z.boolean().default(false),
    maxCostUsd: z.number(BUDGET).min(0, BUDGET).max(EVALUATION_USD.most, BUDGET).default(EVALUATION_USD.usual),
  }),
  reply: evaluation,
  status: 202,
  errors: {
    ...ofAgent.errors,
    400: [BUDGET, CHANGE, 'takes needs a change', 'This agent has no cases yet', ...NO_MODEL_TEXTS],
    409: [
      'An evaluation of this agent is under way',
      'Too many evaluations of yours are under way (max <n>)',
      'Agent is not running',
    ],
  },
  passesOn: () => [agents.update],
});

const ofEvaluation = {
  ...base,
  params: z.object({ id: z.string(), evaluationId: z.string() }),
  errors: { ...ofAgent.errors, 404: [AGENT_NOT_FOUND, EVALUATION_NOT_FOUND] },
} as const;

export const get = endpoint({
  ...ofEvaluation,
  method: 'GET',
  path: '/api/agents/:id/evaluations/:evaluationId',
  summary: 'One evaluation, case by case, beside the one before it',
  reply: evaluation.extend({
    change: change.nullable(),
    results: z.array(result),
    before: z
      .object({ id: z.string(), createdAt: timestamp, passed: z.number(), cases: z.number(), costUsd: z.number() })
      .nullable(),
  }),
});

export const stop = endpoint({
  ...ofEvaluation,
  method: 'POST',
  path: '/api/agents/:id/evaluations/:evaluationId/stop',
  summary: 'Stop an evaluation; cases that are over keep their results',
  reply: evaluation,
});

export const setGate = endpoint({
  ...ofAgent,
  method: 'PUT',
  path: '/api/agents/:id/evaluation-gate',
  summary: 'Take changes of the agent only when its cases have passed with them, or take them as they come',
  body: z.object({ enabled: z.boolean({ error: 'enabled required' }) }),
  reply: z.object({ isGated: z.boolean() }),
  errors: { ...ofAgent.errors, 400: ['enabled required'] },
});
