import type { SystemTx } from '@troupe/db';
import { CHAIN, REVENUE, type Account, type Ledger } from '@troupe/ledger';
import type { ChainPaymentDeps } from './chain-deps.ts';
import type { Plugins } from './plugins.ts';
import type { GatewayPayment } from './store.ts';

interface BookDeps {
  ledger: Ledger;
  payouts: {
    payee: (address: string) => Promise<Account>;
    owe: (tx: SystemTx, payout: { id: string; address: string; units: bigint }) => Promise<void>;
  };
  plugins: Plugins;
}

/** What is booked when a payment on a chain settles, and when it is given back. */
export function createBooks(deps: BookDeps): Pick<ChainPaymentDeps, 'book' | 'refund'> {
  const { ledger, payouts, plugins } = deps;
  // A TIP-20 counts in millionths of a dollar, as the books do.
  const priceOf = ({ kind, plugin, units }: GatewayPayment): bigint =>
    kind === 'transaction' ? units : (plugins.find(plugin)?.price ?? units);
  return {
    book: (tx, payment) => bookIncome(tx, ledger, payment.id, priceOf(payment)),
    async refund(payment) {
      const to = await payouts.payee(payment.payer);
      return (tx) => bookRefund(tx, deps, payment, to);
    },
  };
}

/** A payment over HTTP 402 went straight to the payee on-chain. */
async function bookIncome(tx: SystemTx, ledger: Ledger, paymentId: string, units: bigint): Promise<void> {
  await ledger.open(tx, [CHAIN, REVENUE]);
  await ledger.post(tx, {
    key: `402:${paymentId}`,
    kind: 'plugin',
    entries: [
      { account: CHAIN.id, amount: -units },
      { account: REVENUE.id, amount: units },
    ],
  });
}

/** All that was booked for it goes to the payer: to a wallet here, or out on the chain. */
async function bookRefund(
  tx: SystemTx,
  { ledger, payouts }: BookDeps,
  payment: GatewayPayment,
  to: Account,
): Promise<void> {
  const { units } = payment;
  await ledger.open(tx, [REVENUE, to]);
  await ledger.post(tx, {
    key: `402-refund:${payment.id}`,
    kind: 'refund',
    entries: [
      { account: REVENUE.id, amount: -units },
      { account: to.id, amount: units },
    ],
    meta: { payment: payment.id },
  });
  if (to.id.startsWith('owed:')) await payouts.owe(tx, { id: `402-${payment.id}`, address: payment.payer, units });
}
