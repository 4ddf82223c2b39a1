import type { Jobs, SystemTx } from '@troupe/db';
import type { Clock, Log } from '@troupe/kernel';
import type { SettledTill } from '../tills.ts';
import type { GatewayPayment, GatewayStore } from './store.ts';

/** What both kinds of payment on a chain work with. */
export interface ChainPaymentDeps {
  tills: readonly SettledTill[];
  secret: string;
  store: GatewayStore;
  jobs: Jobs;
  log: Log;
  clock: Clock;
  /** Books the income in the transaction that settles the payment. */
  book: (tx: SystemTx, payment: GatewayPayment) => Promise<void>;
  /** What gives it back, in the transaction that says so. */
  refund: (payment: GatewayPayment) => Promise<(tx: SystemTx) => Promise<void>>;
}

export type Taken = { reference: string } | { refused: string };

/** How long a transaction is waited for. */
export const MINED_WITHIN_MS = 20_000;
