import type { SystemTx } from '@troupe/db';
import { sweepEnded } from '../once-store.ts';

export interface RefreshRow {
  subject: string;
  fid: string;
  address: string | null;
  verified: boolean;
  expires_at: Date;
}

export async function addRefresh(tx: SystemTx, hash: string, row: RefreshRow, now: Date): Promise<void> {
  await sweepEnded(tx, 'federated_refresh_tokens', now);
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
