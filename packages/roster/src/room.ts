import { sql } from 'kysely';
import type { Database, SystemTx, UserTx } from '@troupe/db';
import { agentLimit, isPlan, paidPlan } from '@troupe/domain';
import type { Clock } from '@troupe/kernel';
import type { AgentRow } from './agent.ts';

/** How many agents a user may have, and who is counted. */

/** How many agents the user may have. A team counts as one; those that failed do not count. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
  readonly current: number;
  readonly limit: number;
  constructor(current: number, limit: number) {
    super(`Agent limit reached (${current} of ${limit})`);
    this.current = current;
    this.limit = limit;
  }
}

export interface Room {
  /** Throws LimitReached when so many more would be too many; holds what it found until the transaction ends. */
  check: (tx: UserTx, userId: string, adding: number, limit: number) => Promise<void>;
  /** The same, without holding anything. */
  count: (tx: UserTx, adding: number, limit: number) => Promise<void>;
  /**
   * Counts one that failed again, at once and before it starts, so that of many at the same moment only as many start as
   * there is room for. Throws LimitReached when it would be too many; false: it counts already.
   */
  admit: (agent: AgentRow) => Promise<boolean>;
  /** Undoes that: it did not come to a start. */
  dismiss: (agent: AgentRow) => Promise<void>;
  /** Deletes one that was made and never came to a start. */
  discard: (tx: UserTx | SystemTx, id: string) => Promise<void>;
}

const isFailed = ({ status }: Pick<AgentRow, 'status'>): boolean => status === 'error' || status === 'failed';
const COUNTED = sql<boolean>`status not in ('error', 'failed')`;

/** How many agents a user has, one process at a time. */
function createCounting() {
  /** Held until the transaction ends, so that whoever comes at the same moment counts after us. */
  async function lockRoom(tx: UserTx, userId: string): Promise<void> {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`agents of ${userId}`}, 0))`.execute(tx);
  }

  async function check(tx: UserTx, userId: string, adding: number, limit: number): Promise<void> {
    if (limit === Infinity) return;
    // Who has no room anyhow need not wait for those before them.
    await count(tx, adding, limit);
    await lockRoom(tx, userId);
    await count(tx, adding, limit);
  }

  async function count(tx: UserTx, adding: number, limit: number): Promise<void> {
    const { current } = await tx
      .selectFrom('agents')
      .select(sql<bigint>`count(distinct coalesce(team_id, id))`.as('current'))
      .where(COUNTED)
      .executeTakeFirstOrThrow();
    if (Number(current) + adding > limit) throw new LimitReached(Number(current), limit);
  }

  return { lockRoom, check, count };
}

/** Whether an agent may run. */
function admitting(
  { db, clock }: { db: Database; clock: Clock },
  { lockRoom, count }: ReturnType<typeof createCounting>,
): Pick<Room, 'admit' | 'dismiss'> {
  return {
    async admit(agent) {
      if (!isFailed(agent)) return false;
      const owner = await db.system
        .selectFrom('users')
        .select(['plan', 'is_admin'])
        .where('id', '=', agent.user_id)
        .executeTakeFirst();
      if (owner?.is_admin || !isPlan(agent.plan)) return false;
      const limit = agentLimit(paidPlan(agent.plan, owner?.plan));
      return db.asUser(agent.user_id, async (tx) => {
        await lockRoom(tx, agent.user_id);
        const now = await tx.selectFrom('agents').select('status').where('id', '=', agent.id).executeTakeFirst();
        if (!now || !isFailed(now)) return false;
        // A team counts once: with another of its agents it counts already.
        const beside = tx
          .selectFrom('agents')
          .select('id')
          .where('team_id', '=', agent.team_id)
          .where(COUNTED)
          .limit(1);
        const isCounted = agent.team_id !== null && (await beside.executeTakeFirst()) !== undefined;
        if (!isCounted) await count(tx, 1, limit);
        await tx
          .updateTable('agents')
          .set({ status: 'provisioning', updated_at: clock() })
          .where('id', '=', agent.id)
          .execute();
        return true;
      });
    },
    async dismiss({ id, status }) {
      await db.system
        .updateTable('agents')
        .set({ status, updated_at: clock() })
        .where('id', '=', id)
        .where('status', '=', 'provisioning')
        .execute();
    },
  };
}

export function createRoom(deps: { db: Database; clock: Clock }): Room {
  const counting = createCounting();
  const { check, count } = counting;

  return {
    check,
    count,
    async discard(tx, id) {
      await tx
        .deleteFrom('agents')
        .where('id', '=', id)
        .where('status', '=', 'provisioning')
        .where('started_at', 'is', null)
        .execute();
    },
    ...admitting(deps, counting),
  };
}
