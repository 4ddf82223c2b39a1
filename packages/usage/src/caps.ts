import { setTimeout } from 'node:timers/promises';
import type { Database, UserTx } from '@troupe/db';
import { AppError, isoOrNull, type Clock } from '@troupe/kernel';
import { sql } from 'kysely';
import { CAPS_MS } from './spend.ts';

export type CapScope = 'user' | 'agent' | 'run' | 'team';
export type CapPeriod = 'day' | 'month' | 'total';

export interface CapChange {
  scope: CapScope;
  /** With scope `agent`: the one agent it is for; left out: each agent. */
  agentId?: string;
  /** With scope `team`: whose pot it is. */
  teamId?: string;
  period?: CapPeriod;
  /** Null removes the cap. */
  limitUsd: number | null;
}

export interface Cap {
  scope: CapScope;
  agentId: string | null;
  teamId: string | null;
  period: CapPeriod;
  limitUsd: number;
  /** Null where the cap counts for each agent or run by itself. */
  usedUsd: number | null;
  /** Set aside for calls under way. */
  reservedUsd: number | null;
  resetsAt: string | null;
}

export interface Caps {
  list: (userId: string) => Promise<Cap[]>;
  /** Resolves when the cap is in force in every process. */
  set: (userId: string, change: CapChange) => Promise<void>;
  /** Tokens of this calendar month, those set aside included. */
  tokensThisMonth: (userId: string) => Promise<number>;
}

export interface CapsOptions {
  db: Database;
  clock: Clock;
  /** Has what sums up a user's whole usage wait for its turn; at once unless said. */
  inTurn?: <T>(userId: string, work: () => Promise<T>) => Promise<T>;
}

const EACH = '*';
const USD = 1_000_000;
const MAX_CAPS = 200;

const atOnce: NonNullable<CapsOptions['inTurn']> = (_, work) => work();

function createSetting({ db, clock, inTurn = atOnce }: CapsOptions) {
  async function set(userId: string, { scope, agentId, teamId, period, limitUsd }: CapChange): Promise<void> {
    const scopeId = { user: '', agent: agentId ?? EACH, run: EACH, team: teamId ?? '' }[scope];
    const values = {
      period: period ?? (scope === 'run' ? 'total' : 'month'),
      limit_micros: Math.round((limitUsd ?? 0) * USD),
      updated_at: clock(),
    };
    const isFirst = await db.asUser(userId, async (tx) => {
      if (limitUsd === null) {
        await tx.deleteFrom('spend_caps').where('scope', '=', scope).where('scope_id', '=', scopeId).execute();
        return false;
      }
      await sql`select pg_advisory_xact_lock(hashtextextended(${`caps:${userId}`}, 0))`.execute(tx);
      const known = await tx.selectFrom('spend_caps').select(['scope', 'scope_id']).execute();
      if (known.filter((one) => one.scope !== scope || one.scope_id !== scopeId).length >= MAX_CAPS)
        throw new AppError(400, `At most ${MAX_CAPS} caps`);
      await tx
        .insertInto('spend_caps')
        .values({ user_id: userId, scope, scope_id: scopeId, ...values })
        .onConflict((conflict) => conflict.columns(['user_id', 'scope', 'scope_id']).doUpdateSet(values))
        .execute();
      return known.length === 0;
    });
    if (limitUsd === null) return;
    // Until then a process may believe that this user has no caps: whoever is told that it is set can rely on it.
    if (isFirst) await setTimeout(CAPS_MS + 10);
    const recount = sql`select spend_recount(${userId}, ${scope}, ${scopeId}, spend_since(${values.period}, ${clock()}::timestamptz))`;
    await inTurn(userId, () => recount.execute(db.system));
  }

  return set;
}

interface CapRow {
  scope: CapScope;
  scope_id: string;
  period: CapPeriod;
  limit_micros: bigint;
  used: bigint | null;
  reserved: bigint | null;
  resets_at: Date | null;
}

/**
 * Caps with what is used of them. Of those that no call has counted in yet, that is read from the days: once for all of
 * them, since somebody may have two hundred caps and hundreds of thousands of rows.
 */
async function readCaps(tx: UserTx, userId: string, now: Date): Promise<CapRow[]> {
  const at = sql`${now}::timestamptz`;
  const since = (period: CapPeriod) => sql`(spend_since(${period}, ${at}) at time zone 'UTC')::date`;
  const micros = sql`sum(micros_day) as micros_day, sum(micros_month) as micros_month, sum(micros) as micros`;
  const { rows } = await sql<CapRow>`
    with cap as materialized (
      select c.scope, c.scope_id, c.period, c.limit_micros, n.used, n.reserved, n.used is null and c.scope_id <> ${EACH} as lacks
      from spend_caps c
      left join spend_counters n on n.user_id = c.user_id and n.scope = c.scope and n.scope_id = c.scope_id
        and n.since = spend_since(c.period, ${at})
      where c.user_id = ${userId}
    ), spent as materialized (
      select agent_id, sum(cost_micros) filter (where day >= ${since('day')}) as micros_day,
        sum(cost_micros) filter (where day >= ${since('month')}) as micros_month, sum(cost_micros) as micros
      from usage_daily where user_id = ${userId}
        and day >= (select min((spend_since(period, ${at}) at time zone 'UTC')::date) from cap where lacks)
      group by agent_id
    ), sums as (
      select 'user' as scope, '' as scope_id, ${micros} from spent
      union all select 'agent', agent_id, micros_day, micros_month, micros from spent
      union all select 'team', a.team_id, ${micros} from spent s join agents a on a.id = s.agent_id
        where a.team_id is not null group by a.team_id
    )
    select cap.scope, cap.scope_id, cap.period, cap.limit_micros, spend_resets(cap.period, ${at}) as resets_at,
      case when lacks then coalesce(case cap.period when 'day' then micros_day when 'month' then micros_month
        else micros end, 0)::bigint else cap.used end as used,
      case when lacks then 0 else cap.reserved end as reserved
    from cap left join sums on lacks and sums.scope = cap.scope and sums.scope_id = cap.scope_id
    order by cap.scope desc, cap.scope_id`.execute(tx);
  return rows;
}

export function createCaps(deps: CapsOptions): Caps {
  const { db, clock, inTurn = atOnce } = deps;
  async function list(userId: string): Promise<Cap[]> {
    const rows = await inTurn(userId, () => readCaps(db.user(userId), userId, clock()));
    return rows.map((row) => ({
      scope: row.scope,
      agentId: row.scope === 'agent' && row.scope_id !== EACH ? row.scope_id : null,
      teamId: row.scope === 'team' ? row.scope_id : null,
      period: row.period,
      limitUsd: Number(row.limit_micros) / USD,
      usedUsd: row.used === null ? null : Number(row.used) / USD,
      reservedUsd: row.reserved === null ? null : Number(row.reserved) / USD,
      resetsAt: isoOrNull(row.resets_at),
    }));
  }

  const set = createSetting(deps);

  async function tokensThisMonth(userId: string): Promise<number> {
    const now = clock();
    const read = sql<{ tokens: bigint }>`
      select coalesce(
        (select used + reserved from spend_counters
          where scope = 'tokens' and scope_id = '' and since = spend_since('month', ${now}::timestamptz)),
        (select sum(input_tokens + output_tokens) from usage_daily
          where day >= (spend_since('month', ${now}::timestamptz) at time zone 'UTC')::date),
        0)::bigint as tokens`;
    const { rows } = await inTurn(userId, () => read.execute(db.user(userId)));
    return Number(rows[0]!.tokens);
  }

  return { list, set, tokensThisMonth };
}
