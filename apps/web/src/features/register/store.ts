import type { SystemTx } from '@troupe/db';

export async function findGiver(tx: SystemTx, referralCode: string): Promise<string | null> {
  const row = await tx
    .selectFrom('users')
    .select('id')
    .where('referral_code', '=', referralCode.toUpperCase())
    .executeTakeFirst();
  return row?.id ?? null;
}
