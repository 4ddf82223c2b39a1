import type { Database } from '@troupe/db';
import { FORMULA } from '@troupe/domain';
import { AppError, type Clock } from '@troupe/kernel';
import { sql, type RawBuilder } from 'kysely';
import { BASIS_DAYS, forecastOf, type CostOfDay, type Forecast } from './forecast.ts';
import { isoDay } from './queries.ts';

/** What costs are told by. */
export const COST_SIDES = ['agent', 'team', 'task', 'key', 'model', 'user'] as const;
export type CostSide = (typeof COST_SIDES)[number];

/** Days of UTC, both counted. */
interface Span {
  from: string;
  to: string;
}

interface CostQuestion extends Span {
  by: CostSide;
  /** One of them: its own days stand beside those of all. */
  id?: string | undefined;
  limit: number;
  offset: number;
}

interface Sums {
  costUsd: number;
  inputTokens: number;
  outputTokens: number;
  calls: number;
}

interface CostRow extends Sums {
  /** Empty: what belongs to none. */
  id: string;
  /** Null: it is gone, or never had one. */
  name: string | null;
  /** Whose it is, where everybody's are asked for. */
  owner: string | null;
}

interface Breakdown {
  total: Sums;
  rows: CostRow[];
  /** How many rows there are, those of other pages included. */
  count: number;
  days: (CostOfDay & { chosenUsd: number | null })[];
}

/** Whose usage: one user's, or everybody's. */
export type Whose = { userId: string } | 'everybody';

export interface Costs {
  breakdown: (whose: Whose, question: CostQuestion) => Promise<Breakdown>;
  /** Lines of CSV, a text for each day. */
  csv: (whose: Whose, question: Span & { by: CostSide }) => Promise<string[]>;
  forecast: (whose: Whose) => Promise<Forecast>;
}

const DAY_MS = 86_400_000;
const USD = 1_000_000;
const MOST_LINES = 100_000;

/** Doubles are exact up to 2^53, and cost the driver less than big integers. */
const SUMS = sql`sum(u.cost_micros)::float8 as cost_micros, sum(u.input_tokens)::float8 as input_tokens,
  sum(u.output_tokens)::float8 as output_tokens, sum(u.calls)::float8 as calls`;

interface SumRow {
  cost_micros: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  calls: number | null;
}

const sumsOf = (row: SumRow): Sums => ({
  costUsd: (row.cost_micros ?? 0) / USD,
  inputTokens: row.input_tokens ?? 0,
  outputTokens: row.output_tokens ?? 0,
  calls: row.calls ?? 0,
});

/** Where each side stands: rows to add up, what they are grouped by, and who knows the names. */
interface Side {
  from: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
  name: RawBuilder<unknown>;
  owner: RawBuilder<unknown>;
}

const named = (table: string): Pick<Side, 'name' | 'owner'> => ({
  name: sql`(select n.name from ${sql.table(table)} n where n.id = r.id)`,
  owner: sql`(select o.email from ${sql.table(table)} n join users o on o.id = n.user_id where n.id = r.id)`,
});
const DAILY = sql`usage_daily u`;
const NONE = sql`null::text`;

/** With what belongs to none of them: the whole less what is known. */
const sources = (kind: 'task' | 'key'): RawBuilder<unknown> => sql`(
  select user_id, day, source_id as id, calls, input_tokens, output_tokens, cost_micros
    from usage_sources_daily where kind = ${kind}
  union all
  select user_id, day, '', calls, input_tokens, output_tokens, cost_micros from usage_daily
  union all
  select user_id, day, '', -calls, -input_tokens, -output_tokens, -cost_micros
    from usage_sources_daily where kind = ${kind}) u`;

const SIDES: Record<CostSide, Side> = {
  agent: { from: DAILY, id: sql`u.agent_id`, ...named('agents') },
  team: {
    from: sql`usage_daily u left join agents a on a.id = u.agent_id and a.user_id = u.user_id`,
    id: sql`coalesce(a.team_id, '')`,
    ...named('teams'),
  },
  task: { from: sources('task'), id: sql`u.id`, ...named('scheduled_tasks') },
  key: { from: sources('key'), id: sql`u.id`, ...named('api_keys') },
  model: { from: DAILY, id: sql`u.model`, name: sql`r.id`, owner: NONE },
  user: {
    from: DAILY,
    id: sql`u.user_id`,
    name: sql`(select n.name from users n where n.id = r.id)`,
    owner: sql`(select n.email from users n where n.id = r.id)`,
  },
};

const within = (whose: Whose, { from, to }: Span): RawBuilder<unknown> =>
  whose === 'everybody'
    ? sql`u.day between ${from}::date and ${to}::date`
    : sql`u.user_id = ${whose.userId} and u.day between ${from}::date and ${to}::date`;

const scopeOf = (db: Database, whose: Whose) => (whose === 'everybody' ? db.system : db.user(whose.userId));

function createCsv(db: Database): Costs['csv'] {
  async function csv(whose: Whose, { by, ...span }: Span & { by: CostSide }): Promise<string[]> {
    const { from, id, name, owner } = SIDES[by];
    const who = whose === 'everybody' ? sql`|| ',' || ${quoted(owner)}` : sql``;
    const { rows } = await sql<{ lines: string; count: number }>`
        select string_agg(concat_ws(',', r.day, ${quoted(sql`r.id`)}, ${quoted(name)}) ${who} || ',' ||
          concat_ws(',', r.calls, r.input_tokens, r.output_tokens, round(r.cost_micros / 1000000.0, 6)), E'\r\n'
          order by r.cost_micros desc, r.id) as lines, count(*)::integer as count
        from (
          select u.day, ${id} as id, sum(u.calls) as calls, sum(u.input_tokens) as input_tokens,
            sum(u.output_tokens) as output_tokens, sum(u.cost_micros) as cost_micros
          from ${from} where ${within(whose, span)} group by 1, 2 having sum(u.calls) > 0 limit ${MOST_LINES + 1}
        ) r group by r.day order by r.day`.execute(scopeOf(db, whose));
    if (rows.reduce((all, { count }) => all + count, 0) > MOST_LINES)
      throw new AppError(400, `More than ${MOST_LINES} lines: choose a shorter period`);
    return rows.map(({ lines }) => lines);
  }

  return csv;
}

/** Costs by day and side, from the daily tables alone. */
export function createCosts({ db, clock }: { db: Database; clock: Clock }): Costs {
  const scope = (whose: Whose) => scopeOf(db, whose);

  async function days(whose: Whose, span: Span, side?: Side, id?: string) {
    const { from, id: idOf } = side && id !== undefined ? side : { from: DAILY, id: NONE };
    const { rows } = await sql<SumRow & { day: string }>`
      select u.day, ${SUMS} from ${from}
      where ${within(whose, span)} ${id === undefined ? sql`` : sql`and ${idOf} = ${id}`} group by u.day`.execute(
      scope(whose),
    );
    return rows.map((row) => ({ day: row.day, ...sumsOf(row) }));
  }

  async function listed(whose: Whose, { by, limit, offset, ...span }: CostQuestion) {
    const { from, id, name, owner } = SIDES[by];
    const { rows } = await sql<SumRow & { id: string; name: string | null; owner: string | null; count: number }>`
      select r.*, ${name} as name, ${whose === 'everybody' ? owner : NONE} as owner from (
        select ${id} as id, ${SUMS}, count(*) over ()::integer as count from ${from}
        where ${within(whose, span)} group by 1 having sum(u.calls) > 0
        order by cost_micros desc, id limit ${limit} offset ${offset}
      ) r order by r.cost_micros desc, r.id`.execute(scope(whose));
    return rows;
  }

  return {
    async breakdown(whose, question) {
      const { by, id } = question;
      // One after the other: all at once would be three places of the database for one question.
      const all = await days(whose, question);
      const chosen = id === undefined ? undefined : await days(whose, question, SIDES[by], id);
      const rows = await listed(whose, question);
      const chosenOn = chosen && new Map(chosen.map(({ day, costUsd }) => [day, costUsd]));
      return {
        total: all.reduce(added, { costUsd: 0, inputTokens: 0, outputTokens: 0, calls: 0 }),
        count: rows[0]?.count ?? 0,
        rows: rows.map((row) => ({ id: row.id, name: row.name, owner: row.owner, ...sumsOf(row) })),
        days: everyDay(all, question).map((one) => ({
          ...one,
          chosenUsd: chosenOn ? (chosenOn.get(one.date) ?? 0) : null,
        })),
      };
    },

    csv: createCsv(db),

    async forecast(whose) {
      const now = clock();
      const first = Math.min(now.getTime() - BASIS_DAYS * DAY_MS, Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
      const span = { from: isoDay(new Date(first)), to: isoDay(now) };
      return forecastOf(everyDay(await days(whose, span), span), now);
    },
  };
}

const quoted = (value: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`'"' || replace(regexp_replace(coalesce(${value}, ''), ${FORMULA}, '\\1''', 'g'), '"', '""') || '"'`;

const added = (sum: Sums, one: Sums): Sums => ({
  costUsd: sum.costUsd + one.costUsd,
  inputTokens: sum.inputTokens + one.inputTokens,
  outputTokens: sum.outputTokens + one.outputTokens,
  calls: sum.calls + one.calls,
});

/** Those without any, too. */
function everyDay(found: readonly { day: string; costUsd: number }[], { from, to }: Span): CostOfDay[] {
  const byDay = new Map(found.map(({ day, costUsd }) => [day, costUsd]));
  const result: CostOfDay[] = [];
  for (let date = from; date <= to; date = isoDay(new Date(Date.parse(date) + DAY_MS)))
    result.push({ date, costUsd: byDay.get(date) ?? 0 });
  return result;
}
