import type { Database, Jobs, SystemTx } from '@troupe/db';
import type { Clock, Log } from '@troupe/kernel';
import type { SettledTill } from '../tills.ts';
import * as store from './store.ts';

/** What both kinds of payment on a chain work with. */
export interface ChainPaymentDeps {
  tills: readonly SettledTill[];
  secret: string;
  db: Database;
  jobs: Jobs;
  log: Log;
  clock: Clock;
  /** Books the income in the transaction that settles the payment. */
  book: (tx: SystemTx, payment: store.GatewayPayment) => Promise<void>;
  /** What gives it back, in the transaction that says so. */
  refund: (payment: store.GatewayPayment) => Promise<(tx: SystemTx) => Promise<void>>;
}

export type Taken = { reference: string } | { refused: string };

/** How long a transaction is waited for. */
export const MINED_WITHIN_MS = 20_000;

/** A claimed payment, and what it is for. */
export interface Taking<Payment> {
  id: string;
  payment: Payment;
  serve: () => Promise<void>;
}

/** The money is ours, and booked with it. */
export async function settled({ db, clock, book }: ChainPaymentDeps, id: string): Promise<void> {
  const payment = await store.find(db.system, id);
  if (payment === null) return;
  await db.asSystem(async (tx) => {
    if (await store.settle(tx, id, clock())) await book(tx, payment);
  });
}
