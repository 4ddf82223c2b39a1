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
import { MINED_WITHIN_MS, type ChainPaymentDeps, type Taken } from './chain-deps.ts';
import type { GatewayPayment } from './store.ts';

/** Payment by a signed transfer (EIP-3009): verified first, moved only once the plugin has answered. */
export function createAuthorizedPayments({ store, log, book }: ChainPaymentDeps) {
  async function settled(id: string): Promise<void> {
    const payment = await store.find(id);
    if (payment) await store.settle(id, (tx) => book(tx, payment));
  }

  /** Why it cannot be settled now; null when it can. */
  async function obstacle({ chain, address }: SettledTill, call: ReturnType<typeof authorizedTransferCall>) {
    if (!(await wouldSucceed(chain, address, call))) return 'The transfer would fail';
    return (await coversFees(chain, address, 1)) ? null : 'Payments are not settled on this network now';
  }

  return {
    /** Serves, then moves the money. */
    async take(
      till: SettledTill,
      id: string,
      authorization: Authorization,
      serve: () => Promise<void>,
    ): Promise<Taken> {
      const { chain, token, sender } = till;
      const call = authorizedTransferCall(token, authorization);
      try {
        const refused = await obstacle(till, call);
        if (refused !== null) {
          await store.release(id, 'verified');
          return { refused };
        }
        await serve();
      } catch (error) {
        await store.release(id, 'verified');
        throw error;
      }
      const sent = await sender
        .send(call, (transaction) => store.sending(id, transaction))
        .catch(async (error: unknown) => {
          // Once it is stored it may be under way, and the job finds out.
          if (!(await store.release(id, 'verified'))) throw error;
          log.warn({ err: error, payment: id }, 'a payment could not be sent');
          return null;
        });
      if (sent === null) return { refused: 'The transfer failed' };
      const found = await waitFor(chain, sent, MINED_WITHIN_MS);
      if (found === 'reverted' || found === 'dropped') {
        await store.release(id, 'sent');
        return { refused: 'The transfer failed' };
      }
      // Not mined yet: it is on its way, and the job books it.
      if (found === 'success') await settled(id);
      return { reference: sent.hash };
    },

    async finish({ chain, token }: SettledTill, payment: GatewayPayment): Promise<void> {
      const { id } = payment;
      if (payment.status === 'verified') await store.release(id, 'verified');
      if (payment.status !== 'sent' || payment.transaction === null) return;
      const found = await outcome(chain, payment.transaction);
      if (found === 'unknown') {
        await broadcast(chain, payment.transaction.raw);
        throw new Error('the settlement of a payment is still under way');
      }
      // The nonce of the signed transfer tells, whoever sent it.
      const used = await authorizationUsed(chain, token, payment.payer as Address, payment.nonce as Address);
      await (used ? settled(id) : store.release(id, 'sent'));
    },
  };
}
