import { sql } from 'kysely';
import type { SystemTx } from './scopes.ts';

/** This transaction does not wait for the disk: whether it is kept cannot be told from how long it takes. */
export async function withoutWaiting(tx: SystemTx): Promise<void> {
  await sql`set local synchronous_commit = off`.execute(tx);
}
