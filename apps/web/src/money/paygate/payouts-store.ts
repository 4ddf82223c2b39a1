import type { SystemTx } from '@troupe/db';

export type PayoutStatus = 'owed' | 'sent' | 'paid' | 'credited';

export async function isWallet(tx: SystemTx, address: string): Promise<boolean> {
  const known = await tx
    .selectFrom('wallets')
    .select('id')
    .where((eb) => eb(eb.fn('lower', ['address']), '=', address.toLowerCase()))
    .executeTakeFirst();
  return known !== undefined;
}

export const addPayout = (tx: SystemTx, payout: { id: string; address: string; units: bigint }, now: Date) =>
  tx
    .insertInto('payouts')
    .values({ ...payout, created_at: now, updated_at: now })
    .execute();

export const findPayout = (tx: SystemTx, id: string) =>
  tx.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirst();
export type PayoutRow = NonNullable<Awaited<ReturnType<typeof findPayout>>>;

export interface PayoutMove {
  from: PayoutStatus;
  to: PayoutStatus;
  now: Date;
  /** Columns of the transaction that pays it. */
  set?: object;
}

/** False: it is not in that state any more. */
export async function movePayout(tx: SystemTx, id: string, { from, to, now, set = {} }: PayoutMove): Promise<boolean> {
  const moved = await tx
    .updateTable('payouts')
    .set({ ...set, status: to, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', from)
    .returning('id')
    .executeTakeFirst();
  return moved !== undefined;
}
