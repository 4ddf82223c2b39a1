import type { SystemTx } from '@troupe/db';
import { sha256Hex } from '@troupe/kernel';

export async function isResetOpen(tx: SystemTx, token: string): Promise<boolean> {
  const row = await tx
    .selectFrom('password_resets')
    .select('user_id')
    .where('token_hash', '=', sha256Hex(token))
    .executeTakeFirst();
  return row !== undefined;
}

export async function lockPassword(tx: SystemTx, userId: string): Promise<string | null> {
  const row = await tx
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
  return row?.password_hash ?? null;
}

export async function setPassword(tx: SystemTx, userId: string, hash: string): Promise<void> {
  await tx.updateTable('users').set({ password_hash: hash, password_given: false }).where('id', '=', userId).execute();
}
