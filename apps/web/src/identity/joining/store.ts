import type { SystemTx } from '@troupe/db';
import type { JoiningRules } from '@troupe/contract';

export const readRules = (tx: SystemTx) => tx.selectFrom('joining').select(['mode', 'plan', 'days']).executeTakeFirst();

export async function saveRules(tx: SystemTx, { mode, plan, days }: JoiningRules, now: Date): Promise<void> {
  const given = { mode, plan, days, changed_at: now };
  await tx
    .insertInto('joining')
    .values(given)
    .onConflict((conflict) => conflict.column('one').doUpdateSet(given))
    .execute();
}

/** Until when the plan of an account was given. Nobody changes it meanwhile. */
export async function holdPlanEnd(tx: SystemTx, userId: string): Promise<Date | null> {
  const row = await tx
    .selectFrom('users')
    .select('plan_ends_at')
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
  return row?.plan_ends_at ?? null;
}
