import { broadcast, ChainUnavailable, signedOutcome, type SignedPayment, type TransactionOutcome } from '@troupe/chain';
import { setTimeout as delay } from 'node:timers/promises';
import type { SettledTill } from '../tills.ts';
import { MINED_WITHIN_MS, settled, type ChainPaymentDeps, type Taken, type Taking } from './chain-deps.ts';
import * as store from './store.ts';

/**
 * Payment by a transaction of the payer's own (TIP-20). It is valid for seconds, less than a plugin may take: so the
 * money moves first, and what was paid for no answer is owed to the payer.
 */

async function giveBack({ db, clock, log, refund }: ChainPaymentDeps, id: string): Promise<void> {
  const payment = await store.find(db.system, id);
  if (payment === null) return;
  const giving = await refund(payment);
  await db.asSystem(async (tx) => {
    if (await store.refund(tx, id, clock())) await giving(tx);
  });
  log.info({ payment: id }, 'a payment that was not answered is given back');
}

type Sent = Pick<SignedPayment, 'hash' | 'raw' | 'validBefore'>;

/** Sends it where that is left to us, and waits for the chain's word. */
async function through(
  { log }: ChainPaymentDeps,
  { chain }: SettledTill,
  { hash, raw, validBefore }: Sent,
): Promise<TransactionOutcome> {
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

/** Moves the money, then serves. */
export async function takeSigned(
  deps: ChainPaymentDeps,
  till: SettledTill,
  { id, payment, serve }: Taking<SignedPayment>,
): Promise<Taken> {
  const { db, clock } = deps;
  const found = await through(deps, till, payment);
  // It may still happen: then the job sees it, and gives the money back.
  if (found === 'unknown') return { refused: 'The transfer is not confirmed' };
  if (found !== 'success') {
    await store.release(db.system, id, 'sent', clock());
    return { refused: 'The transfer failed' };
  }
  await settled(deps, id);
  try {
    await serve();
  } catch (error) {
    await giveBack(deps, id);
    throw error;
  }
  if (!(await store.serve(db.system, id, clock())))
    throw new Error('the payment was given back before the plugin answered');
  return { reference: payment.hash };
}

/** Nobody works on it any more: what was not answered is given back. Throws when it must look again later. */
export async function finishSigned(
  deps: ChainPaymentDeps,
  { chain }: SettledTill,
  { id, status, signed, served }: store.GatewayPayment,
): Promise<void> {
  if (status === 'sent' && signed !== null) {
    const found = await signedOutcome(chain, signed);
    if (found === 'unknown') throw new Error('a payment is still under way');
    if (found !== 'success') {
      await store.release(deps.db.system, id, 'sent', deps.clock());
      return;
    }
    await settled(deps, id);
  }
  if (!served) await giveBack(deps, id);
}
