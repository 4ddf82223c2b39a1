import { isDuplicate, type SystemTx, type UserTx } from '@troupe/db';

export const readProfile = (tx: UserTx) =>
  tx
    .selectFrom('users')
    .select(['email', 'email_verified_at', 'name', 'plan', 'credit_micros', 'referral_code', 'notifications'])
    .executeTakeFirst();

export async function hasSecondFactor(tx: UserTx): Promise<boolean> {
  const row = await tx
    .selectFrom('second_factors')
    .select('id')
    .where('confirmed_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The one that the user made first. */
export const findMainAgent = (tx: UserTx): Promise<{ id: string } | undefined> =>
  tx.selectFrom('agents').select('id').orderBy('created_at').limit(1).executeTakeFirst();

/** What the user was called and reached by before; the new address is unverified. */
export async function changeEmail(
  tx: SystemTx,
  userId: string,
  email: string,
  now: Date,
): Promise<{ email: string; name: string } | 'taken' | null> {
  const before = await tx
    .selectFrom('users')
    .select(['email', 'name'])
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
  if (!before || before.email === email) return before ?? null;
  try {
    await tx
      .updateTable('users')
      .set({ email, email_verified_at: null, updated_at: now })
      .where('id', '=', userId)
      .execute();
  } catch (error) {
    if (isDuplicate(error)) return 'taken';
    throw error;
  }
  return before;
}

export async function changeProfile(
  tx: SystemTx,
  userId: string,
  changes: { name?: string; notifications?: Record<string, unknown>; updated_at: Date },
): Promise<void> {
  await tx.updateTable('users').set(changes).where('id', '=', userId).execute();
}

export async function countReferrals(tx: SystemTx, userId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('referrals')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('giver_id', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
