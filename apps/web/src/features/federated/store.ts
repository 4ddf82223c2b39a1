import type { SystemTx } from '@troupe/db';

export interface RefreshRow {
  subject: string;
  fid: string;
  address: string | null;
  verified: boolean;
  expires_at: Date;
}

/** More than the one that is added, so that what is left over shrinks. */
const SWEEP = 20;

/** Whoever gets one clears away those that nobody used. */
export async function addRefresh(tx: SystemTx, hash: string, row: RefreshRow, now: Date): Promise<void> {
  const ended = tx
    .selectFrom('federated_refresh_tokens')
    .select('token_hash')
    .where('expires_at', '<=', now)
    .limit(SWEEP)
    .forUpdate()
    .skipLocked();
  await tx.deleteFrom('federated_refresh_tokens').where('token_hash', 'in', ended).execute();
  await tx
    .insertInto('federated_refresh_tokens')
    .values({ token_hash: hash, ...row })
    .execute();
}

/** Deleting is what makes it work once: of two at the same moment only one gets the row. */
export async function useRefresh(tx: SystemTx, hash: string, now: Date): Promise<RefreshRow | null> {
  const row = await tx
    .deleteFrom('federated_refresh_tokens')
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .returning(['subject', 'fid', 'address', 'verified', 'expires_at'])
    .executeTakeFirst();
  return row ?? null;
}
