import {
  authorizationUsed,
  authorizedTransferCall,
  broadcast,
  coversFees,
  outcome,
  waitFor,
  wouldSucceed,
  type Address,
  type Authorization,
} from '@troupe/chain';
import type { SettledTill } from '../tills.ts';
import { MINED_WITHIN_MS, settled, type ChainPaymentDeps, type Taken, type Taking } from './chain-deps.ts';
import * as store from './store.ts';

/** Payment by a signed transfer (EIP-3009): verified first, moved only once the plugin has answered. */

const release = ({ db, clock }: ChainPaymentDeps, id: string, from: 'verified' | 'sent') =>
  store.release(db.system, id, from, clock());

/** Why it cannot be settled now; null when it can. */
async function obstacle({ chain, address }: SettledTill, call: ReturnType<typeof authorizedTransferCall>) {
  if (!(await wouldSucceed(chain, address, call))) return 'The transfer would fail';
  return (await coversFees(chain, address, 1)) ? null : 'Payments are not settled on this network now';
}

/** Serves, then moves the money. */
export async function takeAuthorized(
  deps: ChainPaymentDeps,
  till: SettledTill,
  { id, payment, serve }: Taking<Authorization>,
): Promise<Taken> {
  const { db, clock, log } = deps;
  const { chain, token, sender } = till;
  const call = authorizedTransferCall(token, payment);
  try {
    const refused = await obstacle(till, call);
    if (refused !== null) {
      await release(deps, id, 'verified');
      return { refused };
    }
    await serve();
  } catch (error) {
    await release(deps, id, 'verified');
    throw error;
  }
  const sent = await sender
    .send(call, (transaction) => store.sending(db.system, id, transaction, clock()))
    .catch(async (error: unknown) => {
      // Once it is stored it may be under way, and the job finds out.
      if (!(await release(deps, id, 'verified'))) throw error;
      log.warn({ err: error, payment: id }, 'a payment could not be sent');
      return null;
    });
  if (sent === null) return { refused: 'The transfer failed' };
  const found = await waitFor(chain, sent, MINED_WITHIN_MS);
  if (found === 'reverted' || found === 'dropped') {
    await release(deps, id, 'sent');
    return { refused: 'The transfer failed' };
  }
  // Not mined yet: it is on its way, and the job books it.
  if (found === 'success') await settled(deps, id);
  return { reference: sent.hash };
}

/** Finishes what a crash interrupted. Throws when it must look again later. */
export async function finishAuthorized(
  deps: ChainPaymentDeps,
  { chain, token }: SettledTill,
  payment: store.GatewayPayment,
): Promise<void> {
  const { id } = payment;
  if (payment.status === 'verified') await release(deps, id, 'verified');
  if (payment.status !== 'sent' || payment.transaction === null) return;
  const found = await outcome(chain, payment.transaction);
  if (found === 'unknown') {
    await broadcast(chain, payment.transaction.raw);
    throw new Error('the settlement of a payment is still under way');
  }
  // The nonce of the signed transfer tells, whoever sent it.
  const used = await authorizationUsed(chain, token, payment.payer as Address, payment.nonce as Address);
  await (used ? settled(deps, id) : release(deps, id, 'sent'));
}
