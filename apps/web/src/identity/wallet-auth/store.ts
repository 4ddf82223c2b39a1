import type { SystemTx } from '@troupe/db';
import { sweepEnded } from '../once-store.ts';

export async function addNonce(tx: SystemTx, nonce: string, expiresAt: Date, now: Date): Promise<void> {
  await sweepEnded(tx, 'wallet_nonces', now);
  await tx.insertInto('wallet_nonces').values({ nonce, expires_at: expiresAt }).execute();
}

export async function hasNonce(tx: SystemTx, nonce: string, now: Date): Promise<boolean> {
  const row = await tx
    .selectFrom('wallet_nonces')
    .select('nonce')
    .where('nonce', '=', nonce)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deleting is what makes it work once: of two at the same moment only one gets the row. */
export async function useNonce(tx: SystemTx, nonce: string, now: Date): Promise<boolean> {
  const row = await tx
    .deleteFrom('wallet_nonces')
    .where('nonce', '=', nonce)
    .where('expires_at', '>', now)
    .returning('nonce')
    .executeTakeFirst();
  return row !== undefined;
}
