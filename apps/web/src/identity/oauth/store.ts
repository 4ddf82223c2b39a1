import type { SystemTx } from '@troupe/db';

export interface Standing {
  id: string;
  email: string;
  email_verified_at: Date | null;
  idp2_disabled_at: Date | null;
}

/** Holds the user for the rest of the transaction. */
export async function lockUser(tx: SystemTx, id: string): Promise<Standing | null> {
  const row = await tx
    .selectFrom('users')
    .select(['id', 'email', 'email_verified_at', 'idp2_disabled_at'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}
