import type { SystemTx, UserTx } from '@troupe/db';

export interface FactorRow {
  id: string;
  kind: 'totp' | 'passkey';
  name: string;
  created_at: Date;
  last_used_at: Date | null;
}

const COLUMNS = ['id', 'kind', 'name', 'created_at', 'last_used_at'] as const;

/** Those that count. */
export const listFactors = (tx: UserTx): Promise<FactorRow[]> =>
  tx
    .selectFrom('second_factors')
    .select(COLUMNS)
    .where('confirmed_at', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();

export const findFactor = (tx: SystemTx, userId: string, id: string): Promise<FactorRow | undefined> =>
  tx.selectFrom('second_factors').select(COLUMNS).where('id', '=', id).where('user_id', '=', userId).executeTakeFirst();

/** Whether there is a password, and that nothing of the user's factors changes until the transaction ends. */
export async function holdUser(tx: SystemTx, id: string): Promise<{ hasPassword: boolean } | null> {
  const row = await tx
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ? { hasPassword: row.password_hash !== null } : null;
}

/** Null: there is none. */
export async function passwordOf(tx: SystemTx, id: string): Promise<'own' | 'given' | null> {
  const row = await tx
    .selectFrom('users')
    .select(['password_hash', 'password_given'])
    .where('id', '=', id)
    .executeTakeFirst();
  if ((row?.password_hash ?? null) === null) return null;
  return row?.password_given ? 'given' : 'own';
}
