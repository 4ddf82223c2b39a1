import type { SystemTx, UserTx } from '@troupe/db';

/** Waits for a password change that is under way. */
export async function holdsPassword(tx: SystemTx, userId: string, hash: string): Promise<boolean> {
  const row = await tx
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', userId)
    .forShare()
    .executeTakeFirst();
  return row?.password_hash === hash;
}

export const listSessions = (tx: UserTx, now: Date) =>
  tx
    .selectFrom('sessions')
    .select(['id', 'device', 'ip', 'created_at', 'last_seen_at', 'expires_at'])
    .where('expires_at', '>', now)
    .orderBy('last_seen_at', 'desc')
    .limit(100)
    .execute();

export async function deleteSession(tx: UserTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('sessions').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}
