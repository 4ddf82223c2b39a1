import type { SystemTx } from '@troupe/db';
import { sha256Hex } from '@troupe/kernel';

export async function findGiver(tx: SystemTx, referralCode: string): Promise<string | null> {
  const row = await tx
    .selectFrom('users')
    .select('id')
    .where('referral_code', '=', referralCode.toUpperCase())
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Whose address a link would prove; null: nobody's. */
export async function linkUser(tx: SystemTx, token: string): Promise<string | null> {
  const row = await tx
    .selectFrom('email_verifications')
    .select('user_id')
    .where('token_hash', '=', sha256Hex(token))
    .executeTakeFirst();
  return row?.user_id ?? null;
}
