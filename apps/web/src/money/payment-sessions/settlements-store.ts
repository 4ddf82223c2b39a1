import type { SystemTx, Tables } from '@troupe/db';
import type { Insertable } from 'kysely';

export const addSettlement = (tx: SystemTx, settlement: Insertable<Tables['payment_settlements']>) =>
  tx.insertInto('payment_settlements').values(settlement).execute();

export const findSettlement = (tx: SystemTx, id: string) =>
  tx.selectFrom('payment_settlements').selectAll().where('id', '=', id).executeTakeFirst();

/** Whether any settlement of the session is under way. */
export async function isSettling(tx: SystemTx, sessionId: string): Promise<boolean> {
  const open = await tx
    .selectFrom('payment_settlements')
    .select('id')
    .where('session_id', '=', sessionId)
    .where('status', '<>', 'done')
    .limit(1)
    .executeTakeFirst();
  return open !== undefined;
}

type State = Tables['payment_settlements']['status'];

/** False: it is not in that state any more. */
export async function move(tx: SystemTx, id: string, from: State, set: Record<string, unknown>): Promise<boolean> {
  const moved = await tx
    .updateTable('payment_settlements')
    .set(set)
    .where('id', '=', id)
    .where('status', '=', from)
    .returning('id')
    .executeTakeFirst();
  return moved !== undefined;
}
