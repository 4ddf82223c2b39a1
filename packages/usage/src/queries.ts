import type { Database } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import { sql } from 'kysely';

/** Answers about one user's usage, all from the daily tables. Days are UTC's; the last of `days` is today. */
export interface UsageQueries {
  summary: (userId: string, days: number) => Promise<SummaryRow[]>;
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

export interface ModelRow extends Tokens {
  model: string;
  provider: string;
  calls: number;
}

export interface SummaryRow extends ModelRow {
  date: string;
  agent_id: string;
}

export interface DailyRow {
  date: string;
  total_tokens: number;
  cost_usd: number;
  calls: number;
}

export interface ToolRow {
  tool_name: string;
  calls: number;
  successes: number;
  avg_ms: number;
}

export interface AgentModelRow {
  agent_id: string;
  model: string;
  tokens: number;
  costMicros: number;
  calls: number;
}

const DAY_MS = 86_400_000;
const USD = 1_000_000;

export const isoDay = (date: Date): string => date.toISOString().slice(0, 10);

export function firstDay(now: Date, days: number): string {
  return isoDay(new Date(now.getTime() - (days - 1) * DAY_MS));
}

interface SumRow {
  input_tokens: string | null;
  output_tokens: string | null;
  cost_micros: string | null;
  calls: string | null;
}

const tokensOf = (row: SumRow): Tokens => {
  const input = Number(row.input_tokens);
  const output = Number(row.output_tokens);
  const cost = Number(row.cost_micros) / USD;
  return { input_tokens: input, output_tokens: output, total_tokens: input + output, cost_usd: cost };
};

const SUMS = sql`sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cost_micros) as cost_micros,
  sum(calls) as calls`;

export function createQueries({ db, clock }: { db: Database; clock: Clock }): UsageQueries {
  const since = (days: number) => firstDay(clock(), days);

  async function models(userId: string, days: number, agentId?: string): Promise<ModelRow[]> {
    const { rows } = await sql<SumRow & { model: string; provider: string }>`
      select model, provider, ${SUMS} from usage_daily
      where user_id = ${userId} and day >= ${since(days)} ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
      group by model, provider order by sum(cost_micros) desc, model, provider`.execute(db.user(userId));
    return rows.map((row) => ({
      model: row.model,
      provider: row.provider,
      ...tokensOf(row),
      calls: Number(row.calls),
    }));
  }

  async function perDay(userId: string, first: string): Promise<DailyRow[]> {
    const { rows } = await sql<SumRow & { day: string }>`
      select d.day::date as day, ${SUMS}
      from generate_series(${first}::date, ${isoDay(clock())}::date, interval '1 day') as d(day)
      left join usage_daily u on u.user_id = ${userId} and u.day = d.day::date
      group by d.day order by d.day`.execute(db.user(userId));
    return rows.map((row) => {
      const { total_tokens, cost_usd } = tokensOf(row);
      return { date: row.day, total_tokens, cost_usd, calls: Number(row.calls) };
    });
  }

  return {
    async summary(userId, days) {
      const { rows } = await sql<SumRow & { day: string; agent_id: string; model: string; provider: string }>`
        select day, agent_id, model, provider, input_tokens, output_tokens, cost_micros, calls from usage_daily
        where user_id = ${userId} and day >= ${since(days)}
        order by day desc, cost_micros desc, agent_id, model, provider`.execute(db.user(userId));
      return rows.map((row) => ({
        date: row.day,
        agent_id: row.agent_id,
        model: row.model,
        provider: row.provider,
        ...tokensOf(row),
        calls: Number(row.calls),
      }));
    },
    byAgent: (userId, agentId, days) => models(userId, days, agentId),
    byModel: (userId, days) => models(userId, days),
    daily: (userId, days) => perDay(userId, since(days)),
    async tools(userId, agentId, days) {
      const { rows } = await sql<{ tool_name: string; calls: string; successes: string; avg_ms: string }>`
        select tool_name, sum(calls) as calls, sum(successes) as successes, round(sum(duration_ms) / sum(calls)) as avg_ms
        from usage_tools_daily
        where user_id = ${userId} and day >= ${since(days)} ${agentId === undefined ? sql`` : sql`and agent_id = ${agentId}`}
        group by tool_name order by sum(calls) desc, tool_name`.execute(db.user(userId));
      return rows.map((row) => ({
        tool_name: row.tool_name,
        calls: Number(row.calls),
        successes: Number(row.successes),
        avg_ms: Number(row.avg_ms),
      }));
    },
    async cost(userId, first) {
      const { rows } = await sql<SumRow & { agent_id: string; model: string }>`
        select agent_id, model, ${SUMS} from usage_daily
        where user_id = ${userId} and day >= ${first}
        group by agent_id, model order by agent_id, sum(cost_micros) desc, model`.execute(db.user(userId));
      const byAgent = rows.map((row) => ({
        agent_id: row.agent_id,
        model: row.model,
        tokens: Number(row.input_tokens) + Number(row.output_tokens),
        costMicros: Number(row.cost_micros),
        calls: Number(row.calls),
      }));
      return { byAgent, byDay: await perDay(userId, first) };
    },
  };
}
