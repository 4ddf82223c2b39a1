import type { SystemTx } from '@troupe/db';
import type { SecurityToken } from './token.ts';

export interface StoredEvent {
  jti: string;
  events: Record<string, unknown>;
  byEmailOnly: boolean;
}

/** False: it is there already. Of two deliveries at once the second waits for the first to commit. */
export async function addEvent(
  tx: SystemTx,
  { jti, events }: SecurityToken,
  byEmailOnly: boolean,
  now: Date,
): Promise<boolean> {
  const row = await tx
    .insertInto('risc_events')
    .values({ jti, events: JSON.stringify(events), by_email_only: byEmailOnly, received_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('jti')
    .executeTakeFirst();
  return row !== undefined;
}

/** The oldest event that was not acted on yet, held for the rest of the transaction. */
export async function nextEvent(tx: SystemTx): Promise<StoredEvent | null> {
  const row = await tx
    .selectFrom('risc_events')
    .select(['jti', 'events', 'by_email_only'])
    .where('processed_at', 'is', null)
    .orderBy('seq')
    .limit(1)
    .forUpdate()
    .executeTakeFirst();
  return row ? { jti: row.jti, events: row.events as Record<string, unknown>, byEmailOnly: row.by_email_only } : null;
}

export async function oldestWaiting(tx: SystemTx): Promise<string | null> {
  const row = await tx
    .selectFrom('risc_events')
    .select('jti')
    .where('processed_at', 'is', null)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  return row?.jti ?? null;
}

export async function markProcessed(tx: SystemTx, jti: string, now: Date): Promise<void> {
  await tx.updateTable('risc_events').set({ processed_at: now }).where('jti', '=', jti).execute();
}

export async function setDisabled(tx: SystemTx, userId: string, at: Date | null): Promise<void> {
  await tx.updateTable('users').set({ idp2_disabled_at: at }).where('id', '=', userId).execute();
}
