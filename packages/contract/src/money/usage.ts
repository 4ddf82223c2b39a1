import { z } from 'zod';
import { nullableTimestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const tag = 'Usage';
const service = 'web';
const method = 'GET';
const auth = 'session';

const days = (fallback: number) => wholeQuery(fallback, 1, 365);

const tokens = {
  input_tokens: z.number(),
  output_tokens: z.number(),
  total_tokens: z.number(),
  cost_usd: z.number(),
};

const rowsOf = <S extends z.ZodType>(row: S) => z.object({ rows: z.array(row), count: z.number(), days: z.number() });

export const getSummary = endpoint({
  service,
  method,
  path: '/api/usage/summary',
  auth,
  tag,
  summary: 'Usage by day, agent and model; of all agents or of one',
  query: z.object({ days: days(30), agentId: z.string().optional() }),
  reply: rowsOf(
    z.object({
      date: z.iso.date(),
      agent_id: z.string().describe('Empty: called without an agent'),
      model: z.string(),
      provider: z.string(),
      ...tokens,
      turn_count: z.number(),
    }),
  ),
});

export const getByAgent = endpoint({
  service,
  method,
  path: '/api/usage/by-agent/:agentId',
  auth,
  tag,
  summary: 'Usage of one agent by model',
  params: z.object({ agentId: z.string() }),
  query: z.object({ days: days(30) }),
  reply: rowsOf(z.object({ model: z.string(), provider: z.string(), ...tokens, events: z.number() })),
});

export const getByModel = endpoint({
  service,
  method,
  path: '/api/usage/by-model',
  auth,
  tag,
  summary: 'Usage by model',
  query: z.object({ days: days(30) }),
  reply: rowsOf(z.object({ model: z.string(), provider: z.string(), ...tokens, turns: z.number() })),
});

export const getDaily = endpoint({
  service,
  method,
  path: '/api/usage/daily',
  auth,
  tag,
  summary: 'Usage by day, days without any included',
  query: z.object({ days: days(7) }),
  reply: rowsOf(z.object({ date: z.iso.date(), total_tokens: z.number(), cost_usd: z.number(), turns: z.number() })),
});

export const getTools = endpoint({
  service,
  method,
  path: '/api/usage/tools',
  auth,
  tag,
  summary: 'How often the agents used each tool',
  query: z.object({ agentId: z.string().optional(), days: days(7) }),
  reply: rowsOf(z.object({ tool_name: z.string(), calls: z.number(), successes: z.number(), avg_ms: z.number() })),
});

export const costPeriods = ['7d', '30d', 'mtd'] as const;

export const getCosts = endpoint({
  service,
  method,
  path: '/api/dashboard/cost',
  auth,
  tag,
  summary: 'What the agents cost, in USD',
  query: z.object({ period: z.enum(costPeriods).catch('7d') }),
  reply: z.object({
    period: z.enum(costPeriods),
    summary: z.object({
      totalCost: z.number(),
      totalTokens: z.number(),
      totalCalls: z.number(),
      avgCostPerCall: z.number(),
    }),
    agents: z.array(
      z.object({
        agentId: z.string(),
        name: z.string(),
        tokens: z.number(),
        cost: z.number(),
        calls: z.number(),
        avgCostPerCall: z.number(),
        model: z.string().describe('The model that cost most'),
      }),
    ),
    daily: z.array(
      z.object({
        date: z.string().describe('A label: Nov 15'),
        day: z.iso.date(),
        cost: z.number(),
        tokens: z.number(),
      }),
    ),
    modelBreakdown: z.array(z.object({ model: z.string(), percent: z.number(), cost: z.number() })),
    isMockData: z.literal(false),
    plan: z.string().nullable(),
    planMonthlyCost: z.number().describe('GBP'),
    agentCount: z.number(),
    activeAgents: z.number(),
  }),
  failure: 'Failed to fetch cost data',
});

const capScope = z.enum(['user', 'agent', 'run', 'team']);
const capPeriod = z.enum(['day', 'month', 'total']);

const caps = z.object({
  caps: z.array(
    z.object({
      scope: capScope,
      agentId: z.string().nullable(),
      teamId: z.string().nullable().describe('Whose pot it is: all agents of the team use it up together'),
      period: capPeriod,
      limitUsd: z.number(),
      usedUsd: z.number().nullable().describe('Null where the cap counts for each agent or run by itself'),
      reservedUsd: z.number().nullable().describe('Set aside for calls under way'),
      resetsAt: nullableTimestamp,
    }),
  ),
  tokens: z
    .object({
      used: z.number(),
      limit: z.number().nullable().describe('Null: no limit'),
      enforced: z.boolean(),
      resetsAt: z.iso.datetime(),
    })
    .describe('Monthly token quota of the plan'),
  credits: z.number(),
});

export const getCaps = endpoint({
  service,
  method,
  path: '/api/usage/caps',
  auth,
  tag,
  summary: 'Spend caps, token quota and credits',
  reply: caps,
});

const LIMIT = 'limitUsd must be a number of at least 0, or null';

export const putCap = endpoint({
  service,
  method: 'PUT',
  path: '/api/usage/caps',
  auth,
  tag,
  summary: 'Set one spend cap, or remove it with limitUsd null',
  body: z
    .object({
      scope: capScope,
      agentId: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe('With scope `agent`: this agent only; left out: each agent'),
      teamId: z.string().min(1).max(200).optional().describe('With scope `team`: whose pot it is'),
      period: capPeriod.optional().describe('`month` unless said; `total` for a run'),
      limitUsd: z.number(LIMIT).min(0, LIMIT).max(1_000_000, 'limitUsd must be at most 1000000').nullable(),
    })
    .refine(({ scope, teamId }) => (scope === 'team') === (teamId !== undefined), 'teamId belongs to scope team'),
  reply: caps,
  errors: { 400: ['At most <n> caps'], 404: ['Team not found'] },
});
