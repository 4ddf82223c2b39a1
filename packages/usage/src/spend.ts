import type { Database } from '@troupe/db';
import { isPlan, PLAN_LIMITS } from '@troupe/domain';
import { AppError, newId, type Clock } from '@troupe/kernel';
import { sql } from 'kysely';

/** On whose account a call is made. */
export interface Spender {
  userId: string;
  agentId?: string;
  runId?: string;
  /** Left out: no token quota. */
  plan?: string;
}

/** The most that a call can use, or what it did use. */
export interface Amount {
  tokens: number;
  micros: number;
}

export interface SpendReservation {
  readonly id: string;
  /** The counters that it was set aside in, and is settled in. */
  readonly counters: readonly object[];
}

/**
 * The gate before everything that costs. Reserve the most that a call can use, make it, settle with what it used (zero
 * when it failed). Sums are kept in the database, so any number of processes together stay below a cap.
 */
export interface Spend {
  /**
   * Undefined at once, or after a look into the database: no cap or quota applies, and `most` was not called. Throws
   * 429 QUOTA_EXCEEDED when there is not enough left.
   */
  reserve: (spender: Spender, most: () => Amount) => Promise<SpendReservation | undefined> | undefined;
  settle: (reservation: SpendReservation, used: Amount) => Promise<void>;
}

export interface SpendOptions {
  db: Database;
  clock: Clock;
  /** TOKEN_QUOTAS=on. */
  tokenQuotas: boolean;
}

/** Longer than any call may take. */
const RESERVATION_MS = 15 * 60_000;
/** For how long it is believed whether a user has caps: whoever sets a first one waits for that long. */
export const CAPS_MS = 250;
const MAX_REMEMBERED = 10_000;

interface Refused {
  scope: 'user' | 'agent' | 'run' | 'team' | 'widget' | 'tokens';
  used: number;
  limit: number;
  resetsAt: string | null;
}

const WHAT: Record<Refused['scope'], string> = {
  user: 'Spend cap reached',
  agent: 'Spend cap of this agent reached',
  run: 'Spend cap of this run reached',
  team: 'The team’s pot is used up',
  widget: 'Daily cap of this widget reached',
  tokens: 'Monthly token quota reached',
};

/** Whether a user has caps at all, kept for a moment. */
function createKnownCaps({ db }: SpendOptions) {
  const capped = new Map<string, { until: number; answer: Promise<boolean> | boolean }>();

  /** Whether the user has any cap; remembered for a moment, and asked for once however many wait. */
  function hasCaps(userId: string): Promise<boolean> | boolean {
    const known = capped.get(userId);
    if (known && known.until > performance.now()) return known.answer;
    if (capped.size >= MAX_REMEMBERED) capped.clear();
    // A widget is a cap, too.
    const answer = sql<{ found: boolean }>`
      select exists (select from spend_caps where user_id = ${userId})
        or exists (select from widgets where user_id = ${userId}) as found`
      .execute(db.system)
      .then(({ rows }) => rows[0]?.found ?? false);
    const remembered: { until: number; answer: Promise<boolean> | boolean } = {
      until: performance.now() + CAPS_MS,
      answer,
    };
    capped.set(userId, remembered);
    answer.then(
      (found) => {
        remembered.answer = found;
      },
      () => capped.delete(userId),
    );
    return answer;
  }

  return hasCaps;
}

export function createSpend(deps: SpendOptions): Spend {
  const { db, clock, tokenQuotas } = deps;
  const hasCaps = createKnownCaps(deps);

  function tokenLimit(plan: string | undefined): number | null {
    if (!tokenQuotas || !isPlan(plan)) return null;
    const limit = PLAN_LIMITS[plan].monthlyTokens;
    return Number.isFinite(limit) ? limit : null;
  }

  function reserve(spender: Spender, most: () => Amount): Promise<SpendReservation | undefined> | undefined {
    const limit = tokenLimit(spender.plan);
    const caps = limit !== null || hasCaps(spender.userId);
    if (caps === false) return undefined;
    if (caps === true) return setAside(spender, limit, most);
    return caps.then((found) => (found ? setAside(spender, limit, most) : undefined));
  }

  async function setAside(
    { userId, agentId, runId }: Spender,
    limit: number | null,
    most: () => Amount,
  ): Promise<SpendReservation | undefined> {
    const id = newId();
    const { tokens, micros } = most();
    const now = clock();
    const expires = new Date(now.getTime() + RESERVATION_MS);
    const { rows } = await sql<{ answer: Refused | { scope?: undefined; counters: object[] } | null }>`
      select spend_reserve(${id}, ${userId}, ${agentId || null}, ${runId ?? null}, ${tokens}, ${micros}, ${limit},
        ${now}::timestamptz, ${expires}::timestamptz) as answer`.execute(db.system);
    const answer = rows[0]?.answer;
    if (answer?.scope) throw quotaExceeded(answer);
    return answer ? { id, counters: answer.counters } : undefined;
  }

  return {
    reserve,
    settle: async ({ id }, { tokens, micros }) => {
      await sql`select spend_settle(${id}, ${tokens}, ${micros})`.execute(db.system);
    },
  };
}

function quotaExceeded({ scope, used, limit, resetsAt }: Refused): AppError {
  const isTokens = scope === 'tokens';
  const shown = (value: number): number => (isTokens ? value : value / 1_000_000);
  return new AppError(429, `${WHAT[scope]}: ${shown(used)} of ${shown(limit)} ${isTokens ? 'tokens' : 'USD'} used`, {
    success: false,
    code: 'QUOTA_EXCEEDED',
    scope,
    unit: isTokens ? 'tokens' : 'usd',
    used: shown(used),
    limit: shown(limit),
    resetsAt: resetsAt === null ? null : new Date(resetsAt).toISOString(),
  });
}
