import { setTimeout } from 'node:timers/promises';
import type { Database } from '@troupe/db';
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
}

const EACH = '*';
const USD = 1_000_000;
const MAX_CAPS = 200;

function createSetting({ db, clock }: CapsOptions) {
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
    await sql`select spend_recount(${userId}, ${scope}, ${scopeId}, spend_since(${values.period}, ${clock()}::timestamptz))`.execute(
      db.system,
    );
  }

  return set;
}

export function createCaps(deps: CapsOptions): Caps {
  const { db, clock } = deps;
  async function list(userId: string): Promise<Cap[]> {
    const now = clock();
    const { rows } = await sql<{
      scope: CapScope;
      scope_id: string;
      period: CapPeriod;
      limit_micros: bigint;
      used: bigint | null;
      reserved: bigint | null;
      resets_at: Date | null;
    }>`
      select c.scope, c.scope_id, c.period, c.limit_micros, spend_resets(c.period, ${now}::timestamptz) as resets_at,
        coalesce(n.used, case when c.scope_id <> ${EACH} then (
          select coalesce(sum(d.cost_micros), 0)::bigint from usage_daily d
          where d.user_id = c.user_id and (c.scope = 'user' or d.agent_id = c.scope_id or (c.scope = 'team' and d.agent_id in (
              select a.id from agents a where a.user_id = c.user_id and a.team_id = c.scope_id)))
            and d.day >= (spend_since(c.period, ${now}::timestamptz) at time zone 'UTC')::date) end) as used,
        coalesce(n.reserved, case when c.scope_id <> ${EACH} then 0 end) as reserved
      from spend_caps c
      left join spend_counters n on n.user_id = c.user_id and n.scope = c.scope and n.scope_id = c.scope_id
        and n.since = spend_since(c.period, ${now}::timestamptz)
      order by c.scope desc, c.scope_id`.execute(db.user(userId));
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
    const { rows } = await sql<{ tokens: bigint }>`
      select coalesce(
        (select used + reserved from spend_counters
          where scope = 'tokens' and scope_id = '' and since = spend_since('month', ${now}::timestamptz)),
        (select sum(input_tokens + output_tokens) from usage_daily
          where day >= (spend_since('month', ${now}::timestamptz) at time zone 'UTC')::date),
        0)::bigint as tokens`.execute(db.user(userId));
    return Number(rows[0]!.tokens);
  }

  return { list, set, tokensThisMonth };
}
