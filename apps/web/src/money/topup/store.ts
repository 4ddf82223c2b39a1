import type { SystemTx } from '@troupe/db';

export interface Checkout {
  id: string;
  address: string;
  cents: number;
  currency: string;
}

export async function add(tx: SystemTx, { id, address, cents, currency }: Checkout, now: Date): Promise<void> {
  await tx
    .insertInto('top_ups')
    .values({ checkout_id: id, address, amount_cents: cents, currency, created_at: now })
    .execute();
}

export async function find(tx: SystemTx, id: string): Promise<Checkout | null> {
  const row = await tx
    .selectFrom('top_ups')
    .select(['checkout_id', 'address', 'amount_cents', 'currency'])
    .where('checkout_id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { id: row.checkout_id, address: row.address, cents: row.amount_cents, currency: row.currency };
}

/** False when the event was worked on before; waits for one that is being worked on. */
export async function takeEvent(tx: SystemTx, id: string, type: string, now: Date): Promise<boolean> {
  const taken = await tx
    .insertInto('top_up_events')
    .values({ id, type, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** False when it was paid before. */
export async function pay(tx: SystemTx, id: string, now: Date): Promise<boolean> {
  const paid = await tx
    .updateTable('top_ups')
    .set({ status: 'paid', paid_at: now })
    .where('checkout_id', '=', id)
    .where('status', '=', 'open')
    .returning('checkout_id')
    .executeTakeFirst();
  return paid !== undefined;
}
