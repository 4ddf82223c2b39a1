import type { SystemTx, Tables } from '@troupe/db';
import type { Insertable } from 'kysely';

/** What is held of one account. */
export interface Part {
  hold: string;
  account: string;
  units: string;
}

export const addCardPayment = (tx: SystemTx, payment: Insertable<Tables['card_payments']>) =>
  tx.insertInto('card_payments').values(payment).execute();

/** What was held for it; nothing when it is not held any more. */
export async function moveCardPayment(
  tx: SystemTx,
  id: string,
  status: 'paid' | 'released',
  now: Date,
): Promise<Part[]> {
  const row = await tx
    .updateTable('card_payments')
    .set({ status, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'held')
    .returning('parts')
    .executeTakeFirst();
  return (row?.parts ?? []) as Part[];
}
