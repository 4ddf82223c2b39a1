import { z } from 'zod';
import { endpoint } from '../../endpoint.ts';
import { needed, tooLong } from '../../fields.ts';
import { MODEL_ERRORS } from '../ai/v1/fields.ts';
import * as ai from '../ai/backend.ts';
import * as agents from '../agents/web.ts';
import { CHANNEL_KINDS } from '../channels/fields.ts';
import { agentName, NO_MODEL_TEXTS, SUBSCRIPTION_REQUIRED_TEXT, UNKNOWN_TOOL_TEXT } from '../fields.ts';
import * as tasks from '../tasks.ts';
import * as onBackend from './backend.ts';
import { triedOnce } from './fields.ts';

/** Say it: a sentence becomes a plan that somebody reads, and then what the plan says. */

export const SENTENCE_LENGTH = 2000;
const SENTENCE = 'Say in a sentence what should be done';
const NO_PLAN = 'The model’s answer is no plan that can be used. Say it in other words, or have it read by rules.';

const base = { service: 'web', auth: 'session', tag: 'Say it', method: 'POST' } as const;

const BAD_CAP = 'capUsd must be a number from 0 to 1000000, or null';
const NO_NAME = 'Agent name is required';
const NO_WORDS = 'There is nothing to ask it: say what it does';

/** All that is made, and nothing else is. */
export const saidPlan = z.object({
  name: agentName(NO_NAME, 'Agent name too long (max 64 chars)'),
  model: z.string().trim().min(1).max(200),
  instruction: z.string().max(50_000, tooLong('Instruction', 50_000)),
  tools: z.array(z.string().max(50)).max(50),
  task: z
    .object({
      name: needed('The task needs a name').max(200, tooLong('Name', 200)),
      prompt: needed('The task needs words').max(100_000, tooLong('Prompt', 100_000)),
      cronSchedule: z.string().max(200, tooLong('Cron schedule', 200)),
      timezone: z.string().max(64),
    })
    .nullable()
    .describe('Null: it works when it is asked'),
  tells: z.enum(CHANNEL_KINDS).nullable().describe('The channel on which it tells what its task found'),
  capUsd: z.number(BAD_CAP).min(0, BAD_CAP).max(1_000_000, BAD_CAP).nullable().describe('A month; null: none'),
});
export type SaidPlan = z.output<typeof saidPlan>;

export const plan = endpoint({
  ...base,
  path: '/api/say',
  summary: 'Read a sentence into a plan; nothing is made by it',
  body: z.object({
    sentence: needed(SENTENCE).max(SENTENCE_LENGTH, tooLong('Sentence', SENTENCE_LENGTH)),
    timezone: z.string().max(64).optional().describe('Of the times in it; UTC unless said'),
    by: z.enum(['model', 'rules']).optional().describe('Rules where no model is set up; a model unless said'),
  }),
  reply: z.object({
    plan: saidPlan,
    by: z.enum(['model', 'rules']),
    isSandbox: z.boolean().describe('No model is set up: agents answer from the sandbox'),
    notes: z.array(z.string()).describe('What to look at before it is made'),
    cost: z
      .object({
        pages: z.number().describe('Pages that are read each time'),
        past: z
          .array(z.object({ model: z.string(), runs: z.number(), low: z.number(), high: z.number() }))
          .describe('What the own tasks of each model cost a run in the last 30 days, USD'),
        perRunUsd: z.object({ low: z.number(), high: z.number() }),
        perMonthUsd: z.object({ low: z.number(), high: z.number() }),
        runs: z.number().describe('In 30 days; 1 where there is no schedule'),
        from: z.number().describe('Past runs that it is read from; 0: worked out from the price of the model'),
      })
      .describe('What it is likely to cost with the plan’s model'),
  }),
  errors: {
    ...MODEL_ERRORS,
    400: [SENTENCE, 'Invalid timezone', ...MODEL_ERRORS[400]],
    403: [SUBSCRIPTION_REQUIRED_TEXT, ...MODEL_ERRORS[403]],
    502: [NO_PLAN, 'Agent backend unavailable', ...MODEL_ERRORS[502]],
  },
  passesOn: () => [ai.listModels],
});

export const make = endpoint({
  ...base,
  path: '/api/say/make',
  status: 201,
  summary: 'Make what a plan says: the agent, its cap and its task, all of it or nothing',
  body: saidPlan,
  reply: z.object({ agentId: z.string(), taskId: z.string().nullable() }),
  errors: { 400: ['Invalid cron schedule', 'Invalid timezone', UNKNOWN_TOOL_TEXT, BAD_CAP, 'At most <n> caps'] },
  passesOn: () => [agents.provision, tasks.create],
});

export const tryOnce = endpoint({
  ...base,
  path: '/api/say/try',
  summary:
    'Try once what a plan says, before it is made: its agent is asked now and nothing of it stays but what it cost. Files, memory and commands are its own and thrown away, pages are read, and what acts outside is not run. It takes two minutes at most',
  body: saidPlan,
  reply: triedOnce,
  errors: {
    400: [UNKNOWN_TOOL_TEXT, NO_WORDS, BAD_CAP, ...NO_MODEL_TEXTS],
    403: [SUBSCRIPTION_REQUIRED_TEXT],
    499: ['Client closed request'],
    502: ['Agent backend unavailable'],
  },
  passesOn: () => [onBackend.tryOnce, ai.listModels],
});
