import {
  authorizationUsed,
  authorizedTransferCall,
  broadcast,
  ChainUnavailable,
  createCharges,
  outcome,
  waitFor,
  wouldSucceed,
  type Authorization,
} from '@troupe/chain';
import { gatewayPaymentJob } from '@troupe/contract';
import type { Jobs, SystemTx } from '@troupe/db';
import { formatAmount } from '@troupe/domain';
import { AppError, type Clock, type Log } from '@troupe/kernel';
import type { SettlementKey } from '../settlement-key.ts';
import { PLUGIN_TIMEOUT_MS, type Plugin } from './plugins.ts';
import type { GatewayPayment, GatewayStore } from './store.ts';

/** Payment by a signed transfer on the chain: verified first, moved only once the plugin has answered. */

type Address = `0x${string}`;

export interface Paid {
  receipt: string;
  headers: Record<string, string>;
}

export type Unpaid = { headers: Record<string, string>; problem: string | null };

export interface ChainPayments {
  /** Runs `serve` when the request carries a good credential, and takes the money when that succeeds. */
  pay: (request: Request, plugin: Plugin, serve: () => Promise<void>) => Promise<Paid | Unpaid>;
}

interface ChainPaymentDeps {
  key: SettlementKey;
  secret: string;
  store: GatewayStore;
  jobs: Jobs;
  log: Log;
  clock: Clock;
  /** Books the income in the transaction that settles the payment. */
  book: (tx: SystemTx, payment: GatewayPayment) => Promise<void>;
}

const CHALLENGE_MS = 5 * 60_000;
const MINED_WITHIN_MS = 20_000;
/** An authorization must outlive the plugin and its own settlement. */
const MIN_LIFE_SECONDS = BigInt((PLUGIN_TIMEOUT_MS + MINED_WITHIN_MS) / 1000);
/** After this, nobody is still working on a payment: what is unfinished is finished by a job. */
const UNFINISHED_SECONDS = 120;
const DECIMALS = 6;

export function createChainPayments(deps: ChainPaymentDeps): ChainPayments {
  const { key, secret, store, jobs, log, clock, book } = deps;
  const { chain, payee, token, sender } = key;
  const charge = createCharges({ chain, token, payee, secret });

  async function settled(id: string): Promise<void> {
    const payment = await store.find(id);
    if (payment) await store.settle(id, (tx) => book(tx, payment));
  }

  /** Serves, then moves the money. */
  async function take(id: string, authorization: Authorization, serve: () => Promise<void>) {
    const call = authorizedTransferCall(token, authorization);
    try {
      if (!(await wouldSucceed(chain, key.address, call))) {
        await store.release(id, 'verified');
        return { refused: 'The transfer would fail' };
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
  }

  /** Finishes what a crash interrupted. Throws when it must look again later. */
  async function finish({ id }: { id: string }): Promise<void> {
    const payment = await store.find(id);
    if (payment?.status === 'verified') await store.release(id, 'verified');
    if (payment?.status !== 'sent' || payment.transaction === null) return;
    const found = await outcome(chain, payment.transaction);
    if (found === 'unknown') {
      await broadcast(chain, payment.transaction.raw);
      throw new Error('the settlement of a payment is still under way');
    }
    // The nonce of the signed transfer tells, whoever sent it.
    const used = await authorizationUsed(chain, token, payment.payer as Address, payment.nonce as Address);
    await (used ? settled(id) : store.release(id, 'sent'));
  }
  jobs.work(gatewayPaymentJob, finish);

  return {
    async pay(request, plugin, serve) {
      const expires = new Date(clock().getTime() + CHALLENGE_MS);
      const settle = async (authorization: Authorization) => {
        const soon = BigInt(Math.floor(clock().getTime() / 1000)) + MIN_LIFE_SECONDS;
        if (authorization.validBefore < soon) return { refused: 'The authorization ends too soon' };
        const claim = { chainId: chain.network.id, token, authorization };
        const id = await store.claim(plugin.id, claim, async (tx, payment) => {
          await jobs.send(
            tx,
            gatewayPaymentJob,
            { id: payment },
            { startAfter: UNFINISHED_SECONDS, owner: authorization.from },
          );
        });
        return id === null ? { refused: 'The payment was used before' } : take(id, authorization, serve);
      };
      try {
        const result = await charge({
          request,
          price: formatAmount(plugin.price, DECIMALS),
          description: `One call of ${plugin.id}`,
          expires: expires.toISOString(),
          settle,
        });
        if (result.paid) return { receipt: result.reference, headers: result.headers };
        if (result.challengeId !== null) await store.addChallenge(result.challengeId, plugin.id, expires);
        return { headers: result.headers, problem: result.problem };
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        log.warn({ err: error }, 'the chain does not answer, payments over HTTP 402 are off');
        throw new AppError(503, 'payment_unavailable', {}, { cause: error });
      }
    },
  };
}
