import type { SystemTx } from '@troupe/db';
import { CREDIT_MICROS, REFERRAL_CREDITS, REFERRAL_CREDITS_A_MONTH } from '@troupe/domain';
import type { Clock } from '@troupe/kernel';
import { sql } from 'kysely';

export interface Credits {
  /** Remembers who brought the newcomer; the first one counts. */
  refer: (tx: SystemTx, newcomerId: string, giverId: string) => Promise<void>;
  /** Gives both sides their credits, once; the giver only up to the month's bound. */
  settle: (tx: SystemTx, newcomerId: string) => Promise<void>;
  /** Uses up to `micros` of the user's credits; how much they covered. */
  spend: (tx: SystemTx, userId: string, micros: bigint) => Promise<bigint>;
}

const GIFT = REFERRAL_CREDITS * CREDIT_MICROS;
const GIFT_A_MONTH = REFERRAL_CREDITS_A_MONTH * CREDIT_MICROS;

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

export function createCredits(clock: Clock): Credits {
  const add = async (tx: SystemTx, userId: string, micros: bigint) => {
    await tx
      .updateTable('users')
      .set((eb) => ({ credit_micros: eb('credit_micros', '+', micros) }))
      .where('id', '=', userId)
      .execute();
  };
  const monthStart = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));

  async function givenThisMonth(tx: SystemTx, giverId: string, now: Date): Promise<bigint> {
    const { total } = await tx
      .selectFrom('referrals')
      .select(sql<bigint>`coalesce(sum(giver_micros), 0)::int8`.as('total'))
      .where('giver_id', '=', giverId)
      .where('credited_at', '>=', monthStart(now))
      .executeTakeFirstOrThrow();
    return total;
  }

  return {
    async refer(tx, newcomerId, giverId) {
      await tx
        .insertInto('referrals')
        .values({ user_id: newcomerId, giver_id: giverId, created_at: clock() })
        .onConflict((conflict) => conflict.column('user_id').doNothing())
        .execute();
    },
    async settle(tx, newcomerId) {
      const now = clock();
      const open = await tx
        .updateTable('referrals')
        .set({ credited_at: now })
        .where('user_id', '=', newcomerId)
        .where('credited_at', 'is', null)
        .returning('giver_id')
        .executeTakeFirst();
      if (!open) return;
      // One settlement of a giver at a time, so that the month's bound holds.
      await tx.selectFrom('users').select('id').where('id', '=', open.giver_id).forUpdate().execute();
      const left = GIFT_A_MONTH - (await givenThisMonth(tx, open.giver_id, now));
      const gift = smaller(GIFT, left > 0n ? left : 0n);
      await tx.updateTable('referrals').set({ giver_micros: gift }).where('user_id', '=', newcomerId).execute();
      await add(tx, open.giver_id, gift);
      await add(tx, newcomerId, GIFT);
    },
    async spend(tx, userId, micros) {
      const row = await tx
        .selectFrom('users')
        .select('credit_micros')
        .where('id', '=', userId)
        .forUpdate()
        .executeTakeFirst();
      const covered = smaller(row?.credit_micros ?? 0n, micros);
      if (covered > 0n) await add(tx, userId, -covered);
      return covered;
    },
  };
}
