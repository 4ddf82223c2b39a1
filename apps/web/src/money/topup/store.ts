import type { Database, SystemTx } from '@troupe/db';
import type { Clock } from '@troupe/kernel';

export interface Checkout {
  id: string;
  address: string;
  cents: number;
  currency: string;
}

export type TopUpStore = ReturnType<typeof createTopUpStore>;

export function createTopUpStore({ db, clock }: { db: Database; clock: Clock }) {
  return {
    async add({ id, address, cents, currency }: Checkout): Promise<void> {
      await db.system
        .insertInto('top_ups')
        .values({ checkout_id: id, address, amount_cents: cents, currency, created_at: clock() })
        .execute();
    },

    async find(tx: SystemTx, id: string): Promise<Checkout | null> {
      const row = await tx
        .selectFrom('top_ups')
        .select(['checkout_id', 'address', 'amount_cents', 'currency'])
        .where('checkout_id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return null;
      return { id: row.checkout_id, address: row.address, cents: row.amount_cents, currency: row.currency };
    },

    /** False when the event was worked on before; waits for one that is being worked on. */
    async takeEvent(tx: SystemTx, id: string, type: string): Promise<boolean> {
      const taken = await tx
        .insertInto('top_up_events')
        .values({ id, type, created_at: clock() })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst();
      return taken !== undefined;
    },

    /** False when it was paid before. */
    async pay(tx: SystemTx, id: string): Promise<boolean> {
      const paid = await tx
        .updateTable('top_ups')
        .set({ status: 'paid', paid_at: clock() })
        .where('checkout_id', '=', id)
        .where('status', '=', 'open')
        .returning('checkout_id')
        .executeTakeFirst();
      return paid !== undefined;
    },
  };
}
