import { broadcast, ChainUnavailable, signedOutcome, type SignedPayment, type TransactionOutcome } from '@troupe/chain';
import { setTimeout as delay } from 'node:timers/promises';
import type { SettledTill } from '../tills.ts';
import { MINED_WITHIN_MS, type ChainPaymentDeps, type Taken } from './chain-deps.ts';
import type { GatewayPayment } from './store.ts';

/**
 * Payment by a transaction of the payer's own (TIP-20). It is valid for seconds, less than a plugin may take: so the
 * money moves first, and what was paid for no answer is owed to the payer.
 */
export function createSignedPayments({ store, log, book, refund }: ChainPaymentDeps) {
  async function settled(payment: GatewayPayment | null): Promise<void> {
    if (payment) await store.settle(payment.id, (tx) => book(tx, payment));
  }

  async function giveBack(id: string): Promise<void> {
    const payment = await store.find(id);
    if (payment === null) return;
    if (await store.refund(id, await refund(payment)))
      log.info({ payment: id }, 'a payment that was not answered is given back');
  }

  /** Sends it where that is left to us, and waits for the chain's word. */
  async function through({ chain }: SettledTill, { hash, raw, validBefore }: Sent): Promise<TransactionOutcome> {
    if (raw !== null)
      await broadcast(chain, raw).catch((error: unknown) => {
        if (error instanceof ChainUnavailable) throw error;
        log.warn({ err: error, hash }, 'a payment was not taken by the node');
      });
    const until = performance.now() + MINED_WITHIN_MS;
    for (;;) {
      const found = await signedOutcome(chain, { hash, validBefore });
      if (found !== 'unknown' || performance.now() > until) return found;
      await delay(chain.viem.pollingInterval);
    }
  }

  return {
    /** Moves the money, then serves. */
    async take(till: SettledTill, id: string, payment: SignedPayment, serve: () => Promise<void>): Promise<Taken> {
      const found = await through(till, payment);
      // It may still happen: then the job sees it, and gives the money back.
      if (found === 'unknown') return { refused: 'The transfer is not confirmed' };
      if (found !== 'success') {
        await store.release(id, 'sent');
        return { refused: 'The transfer failed' };
      }
      await settled(await store.find(id));
      try {
        await serve();
      } catch (error) {
        await giveBack(id);
        throw error;
      }
      if (!(await store.serve(id))) throw new Error('the payment was given back before the plugin answered');
      return { reference: payment.hash };
    },

    /** Nobody works on it any more: what was not answered is given back. */
    async finish({ chain }: SettledTill, payment: GatewayPayment): Promise<void> {
      const { id, status, signed } = payment;
      if (status === 'sent' && signed !== null) {
        const found = await signedOutcome(chain, signed);
        if (found === 'unknown') throw new Error('a payment is still under way');
        if (found !== 'success') return void (await store.release(id, 'sent'));
        await settled(payment);
      }
      if (!payment.served) await giveBack(id);
    },
  };
}

type Sent = Pick<SignedPayment, 'hash' | 'raw' | 'validBefore'>;
