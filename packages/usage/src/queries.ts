import type { Database } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import { sql } from 'kysely';

/** Answers about one user's usage, all from the daily tables. Days are UTC's; the last of `days` is today. */
export interface UsageQueries {
  summary: (userId: string, days: number, agentId?: string) => Promise<SummaryRow[]>;
  byAgent: (userId: string, agentId: string, days: number) => Promise<ModelRow[]>;
  byModel: (userId: string, days: number) => Promise<ModelRow[]>;
  daily: (userId: string, days: number) => Promise<DailyRow[]>;
  tools: (userId: string, agentId: string | undefined, days: number) => Promise<ToolRow[]>;
  /** Sums since that day by agent and model, and by day. */
  cost: (userId: string, since: string) => Promise<{ byAgent: AgentModelRow[]; byDay: DailyRow[] }>;
}

interface Tokens {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  cost_usd: number;
}

interface ModelRow extends Tokens {
  model: string;
  provider: string;
  calls: number;
}

interface SummaryRow extends Tokens {
  date: string;
  agent_id: string;
  model: string;
  provider: string;
  turn_count: number;
}

interface DailyRow {
  date: string;
  total_tokens: number;
  cost_usd: number;
  calls: number;
}

interface ToolRow {
  tool_name: string;
  calls: number;
  successes: number;
  avg_ms: number;
}

interface AgentModelRow {
  agent_id: string;
  model: string;
  tokens: number;
  costMicros: number;
  calls: number;
}

const DAY_MS = 86_400_000;
const USD = 1_000_000;
/** Of one answer, the newest: somebody's agents, models and days are without end. */
const MOST_ROWS = 10_000;
/** That are told apart where the cost of each is shown; what the others cost counts as called without one. */
const MOST_AGENTS = 1000;

export const isoDay = (date: Date): string => date.toISOString().slice(0, 10);

export function firstDay(now: Date, days: number): string {
  return isoDay(new Date(now.getTime() - (days - 1) * DAY_MS));
}

interface SumRow {
  input_tokens: number;
  output_tokens: number;
  cost_micros: number;
  calls: number;
}

const tokensOf = (row: SumRow): Tokens => ({
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  total_tokens: row.input_tokens + row.output_tokens,
  cost_usd: row.cost_micros / USD,
});

/** As doubles, exact up to 2^53: converting thousands of big integers costs more than the query. */
const SUMS = sql`sum(input_tokens)::float8 as input_tokens, sum(output_tokens)::float8 as output_tokens,
  sum(cost_micros)::float8 as cost_micros, sum(calls)::float8 as calls`;

const ofAgent = (agentId: string | undefined) => (agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`);

/** A row for each day from the first to the last, whether anything happened or not. */
function everyDay(found: readonly (SumRow & { day: string })[], first: string, last: string): DailyRow[] {
  const byDay = new Map(found.map((row) => [row.day, row]));
  const result: DailyRow[] = [];
  for (let day = first; day <= last; day = isoDay(new Date(Date.parse(day) + DAY_MS))) {
    const row = byDay.get(day) ?? { input_tokens: 0, output_tokens: 0, cost_micros: 0, calls: 0 };
    const { total_tokens, cost_usd } = tokensOf(row);
    result.push({ date: day, total_tokens, cost_usd, calls: row.calls });
  }
  return result;
}

const PACKED = ['agent_id', 'model', 'provider', 'input_tokens', 'output_tokens', 'cost_micros', 'calls'] as const;

/** A day in one row, its columns as lists in JSON: with a row for each sum the driver takes longer than the server. */
interface PackedDay {
  day: string;
  columns: string;
}

type Columns = [...names: [string[], string[], string[]], ...numbers: [number[], number[], number[], number[]]];

function unpack({ day, columns }: PackedDay): SummaryRow[] {
  const [agents, models, providers, inputs, outputs, costs, calls] = JSON.parse(columns) as Columns;
  return agents.map((agent_id, at) => ({
    date: day,
    agent_id,
    model: models[at]!,
    provider: providers[at]!,
    input_tokens: inputs[at]!,
    output_tokens: outputs[at]!,
    total_tokens: inputs[at]! + outputs[at]!,
    cost_usd: costs[at]! / USD,
    turn_count: calls[at]!,
  }));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const dearestFirst = (a: SummaryRow, b: SummaryRow): number =>
  b.cost_usd - a.cost_usd ||
  compare(a.agent_id, b.agent_id) ||
  compare(a.model, b.model) ||
  compare(a.provider, b.provider);

function costing({ db, clock }: { db: Database; clock: Clock }): Pick<UsageQueries, 'cost'> {
  return {
    async cost(userId, first) {
      const { rows } = await sql<SumRow & { day: string | null; agent_id: string | null; model: string | null }>`
        with used as materialized (
          select day, agent_id, model, input_tokens, output_tokens, cost_micros, calls from usage_daily
          where user_id = ${userId} and day >= ${first}
        ), dearest as (
          select agent_id from used group by agent_id order by sum(cost_micros) desc, agent_id limit ${MOST_AGENTS}
        )
        select day, agent_id, model, ${SUMS} from (
          select day, model, case when agent_id in (select agent_id from dearest) then agent_id else '' end as agent_id,
            input_tokens, output_tokens, cost_micros, calls from used) u
        group by grouping sets ((agent_id, model), (day))
        order by agent_id, sum(cost_micros) desc, model`.execute(db.user(userId));
      const byAgent = rows.flatMap(({ agent_id, model, ...row }) =>
        agent_id === null || model === null
          ? []
          : [
              {
                agent_id,
                model,
                tokens: row.input_tokens + row.output_tokens,
                costMicros: row.cost_micros,
                calls: row.calls,
              },
            ],
      );
      const days = rows.flatMap(({ day, ...row }) => (day === null ? [] : [{ ...row, day }]));
      return { byAgent, byDay: everyDay(days, first, isoDay(clock())) };
    },
  };
}

export function createQueries(deps: { db: Database; clock: Clock }): UsageQueries {
  const { db, clock } = deps;
  const since = (days: number) => firstDay(clock(), days);

  async function models(userId: string, days: number, agentId?: string): Promise<ModelRow[]> {
    const { rows } = await sql<SumRow & { model: string; provider: string }>`
      select model, provider, ${SUMS} from usage_daily
      where user_id = ${userId} and day >= ${since(days)} ${ofAgent(agentId)}
      group by model, provider order by sum(cost_micros) desc, model, provider`.execute(db.user(userId));
    return rows.map((row) => ({ model: row.model, provider: row.provider, ...tokensOf(row), calls: row.calls }));
  }

  return {
    async summary(userId, days, agentId) {
      const column = (name: string) => sql`to_json(array_agg(${sql.ref(name)}))`;
      const { rows } = await sql<PackedDay>`
        select day, format('[%s,%s,%s,%s,%s,%s,%s]', ${sql.join(PACKED.map(column))}) as columns
        from (select * from usage_daily where user_id = ${userId} and day >= ${since(days)} ${ofAgent(agentId)}
          order by day desc, cost_micros desc limit ${MOST_ROWS}) newest
        group by day order by day desc`.execute(db.user(userId));
      return rows.flatMap((row) => unpack(row).sort(dearestFirst));
    },
    byAgent: (userId, agentId, days) => models(userId, days, agentId),
    byModel: (userId, days) => models(userId, days),
    async daily(userId, days) {
      const first = since(days);
      const { rows } = await sql<SumRow & { day: string }>`
        select day, ${SUMS} from usage_daily where user_id = ${userId} and day >= ${first} group by day`.execute(
        db.user(userId),
      );
      return everyDay(rows, first, isoDay(clock()));
    },
    async tools(userId, agentId, days) {
      const { rows } = await sql<{ tool_name: string; calls: string; successes: string; avg_ms: string }>`
        select tool_name, sum(calls) as calls, sum(successes) as successes, round(sum(duration_ms) / sum(calls)) as avg_ms
        from usage_tools_daily
        where user_id = ${userId} and day >= ${since(days)} ${ofAgent(agentId)}
        group by tool_name order by sum(calls) desc, tool_name`.execute(db.user(userId));
      return rows.map((row) => ({
        tool_name: row.tool_name,
        calls: Number(row.calls),
        successes: Number(row.successes),
        avg_ms: Number(row.avg_ms),
      }));
    },
    ...costing(deps),
  };
}
