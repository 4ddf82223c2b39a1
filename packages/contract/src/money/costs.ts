import { z } from 'zod';
import { nullableTimestamp, wholeQuery } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** What things cost over a period of one's choice: own, and for administrators of everybody. */

/** What costs are told by. */
export const COST_SIDES = ['agent', 'team', 'task', 'key', 'model'] as const;
export type CostSide = (typeof COST_SIDES)[number];

export const MOST_COST_DAYS = 366;
const DAY_MS = 86_400_000;
const BAD_DAY = 'from and to must be days such as 2026-11-30';
const BAD_SPAN = `A period begins before it ends and has ${MOST_COST_DAYS} days at most`;
const BAD_SIDE = 'by must be agent, team, task, key or model';
const BAD_SIDE_OF_ALL = 'by must be user, agent, team, task, key or model';
const TOO_LONG = 'More than 100000 lines: choose a shorter period';

const base = { service: 'web', method: 'GET' } as const;
const own = { ...base, auth: 'session', tag: 'Usage' } as const;
const everybody = { ...base, auth: 'admin', tag: 'Administration' } as const;
const UNAUTHORIZED = ['Unauthorized'];
const FORBIDDEN = ['Admin access required.'];

const day = z.iso.date(BAD_DAY).refine((given) => given >= '1970-01-01' && given <= '9999-12-31', BAD_DAY);
const span = {
  from: day.optional().describe('First day, UTC; the first of the month of `to` unless said'),
  to: day.optional().describe('Last day, UTC; today unless said'),
};
const page = {
  id: z.string().max(255).optional().describe('One of the rows: its own days come beside those of all'),
  limit: wholeQuery(50, 1, 200),
  offset: wholeQuery(0, 0, 1_000_000),
};
const isSpan = ({ from, to }: { from?: string | undefined; to?: string | undefined }): boolean =>
  from === undefined ||
  to === undefined ||
  (from <= to && Date.parse(to) - Date.parse(from) <= (MOST_COST_DAYS - 1) * DAY_MS);

const by = z.enum(COST_SIDES, { error: BAD_SIDE }).default('agent');
const byForAll = z.enum(['user', ...COST_SIDES], { error: BAD_SIDE_OF_ALL }).default('user');

const sums = { costUsd: z.number(), inputTokens: z.number(), outputTokens: z.number(), calls: z.number() };

const costs = z.object({
  by: z.string(),
  from: z.iso.date(),
  to: z.iso.date(),
  total: z.object(sums),
  rows: z
    .array(
      z.object({
        id: z.string().describe('Empty: what belongs to none'),
        name: z.string().nullable().describe('Null: it is deleted'),
        owner: z.string().nullable().describe('E-mail address, where everybody’s costs are asked for'),
        ...sums,
      }),
    )
    .describe('The dearest first'),
  count: z.number().describe('Rows in all'),
  days: z.array(
    z.object({ date: z.iso.date(), costUsd: z.number(), chosenUsd: z.number().nullable().describe('Of `id` alone') }),
  ),
});
export type CostsReply = z.output<typeof costs>;

const forecast = z.object({
  soFarUsd: z.number().describe('This month up to now'),
  endUsd: z.number().nullable().describe('By the end of the month; null: fewer than three full days to go by'),
  lowUsd: z.number().nullable(),
  highUsd: z.number().nullable().describe('Eight of ten months end between low and high, if days vary as they did'),
  perDayUsd: z.number().nullable().describe('Mean of the full days that it goes by'),
  basisDays: z.number().describe('How many full days those are, 28 at most'),
  daysLeft: z.number().describe('Days of the month after today'),
});
export type CostForecast = z.output<typeof forecast>;

export const get = endpoint({
  ...own,
  path: '/api/costs',
  summary: 'What was spent on models in a period: by day, and by agent, team, task, key or model',
  query: z.object({ by, ...span, ...page }).refine(isSpan, BAD_SPAN),
  reply: costs,
  errors: { 400: [BAD_DAY, BAD_SPAN, BAD_SIDE], 401: UNAUTHORIZED },
});

export const download = endpoint({
  ...own,
  path: '/api/costs/export',
  summary: 'The same as CSV, a line for each day and agent, team, task, key or model',
  query: z.object({ by, ...span }).refine(isSpan, BAD_SPAN),
  produces: 'text/csv',
  errors: { 400: [BAD_DAY, BAD_SPAN, BAD_SIDE, TOO_LONG], 401: UNAUTHORIZED },
});

export const getForecast = endpoint({
  ...own,
  path: '/api/costs/forecast',
  summary:
    'What this month will have cost by its end: so far, and a mean day of the last four weeks for each day that is left',
  reply: forecast,
  errors: { 401: UNAUTHORIZED },
});

export const getOfAll = endpoint({
  ...everybody,
  path: '/api/admin/costs',
  summary: 'What everybody spent on models in a period: by day, and by user, agent, team, task, key or model',
  query: z.object({ by: byForAll, ...span, ...page }).refine(isSpan, BAD_SPAN),
  reply: costs,
  errors: { 400: [BAD_DAY, BAD_SPAN, BAD_SIDE_OF_ALL], 403: FORBIDDEN },
});

export const downloadOfAll = endpoint({
  ...everybody,
  path: '/api/admin/costs/export',
  summary: 'The same as CSV',
  query: z.object({ by: byForAll, ...span }).refine(isSpan, BAD_SPAN),
  produces: 'text/csv',
  errors: { 400: [BAD_DAY, BAD_SPAN, BAD_SIDE_OF_ALL, TOO_LONG], 403: FORBIDDEN },
});

export const getForecastOfAll = endpoint({
  ...everybody,
  path: '/api/admin/costs/forecast',
  summary: 'What this month will have cost everybody by its end',
  reply: forecast,
  errors: { 403: FORBIDDEN },
});

const budget = z.object({
  kind: z
    .enum(['cap', 'tokens', 'payments', 'strangers'])
    .describe('Spend on models; tokens of the plan; what an agent pays; what strangers may cost at an agent’s door'),
  scope: z.enum(['user', 'agent', 'run', 'team']),
  agentId: z.string().nullable().describe('Null: each agent or run, or all together'),
  agentName: z.string().nullable(),
  teamId: z.string().nullable().optional().describe('Whose pot it is'),
  teamName: z.string().nullable().optional(),
  period: z.enum(['day', 'month', 'total']),
  unit: z.enum(['usd', 'tokens', 'messages']),
  limit: z.number().nullable().describe('Null: no limit'),
  used: z.number().nullable().describe('Null where it counts for each agent or run by itself'),
  reserved: z.number().nullable().describe('Set aside for calls under way'),
  resetsAt: nullableTimestamp,
  steps: z
    .array(
      z.object({
        at: z.number().describe('Percent of the limit'),
        does: z.enum(['tell', 'ask', 'credits', 'refuse', 'nothing']),
      }),
    )
    .describe('What happens at which share'),
  above: z.number().nullable().describe('A single payment above it waits for its owner, in US dollars'),
});
export type Budget = z.output<typeof budget>;

export const getBudgets = endpoint({
  ...own,
  path: '/api/budgets',
  summary: 'Everything that bounds what agents spend, what is used of it, and what happens when it is reached',
  reply: z.object({ budgets: z.array(budget), more: z.boolean().describe('There are more than 500') }),
  errors: { 401: UNAUTHORIZED },
});
