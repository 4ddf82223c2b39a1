import { ChainUnavailable, createCharges, type Authorization, type SignedPayment } from '@troupe/chain';
import { gatewayPaymentJob } from '@troupe/contract';
import { formatAmount } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { SettledTill } from '../tills.ts';
import { MINED_WITHIN_MS, type ChainPaymentDeps, type Taken } from './chain-deps.ts';
import { createAuthorizedPayments } from './pay-authorized.ts';
import { createSignedPayments } from './pay-signed.ts';
import { PLUGIN_TIMEOUT_MS, type Plugin } from './plugins.ts';

/** Payment on a chain over HTTP 402: each till takes what its token can settle. */

export interface Paid {
  receipt: string;
  headers: Record<string, string>;
}

export type Unpaid = { headers: Record<string, string>; problem: string | null };

export interface ChainPayments {
  /** Runs `serve` when the request carries a good credential; who gets no answer has paid nothing in the end. */
  pay: (request: Request, plugin: Plugin, serve: () => Promise<void>) => Promise<Paid | Unpaid>;
}

const CHALLENGE_MS = 5 * 60_000;
/** An authorization must outlive the plugin and its own settlement. */
const MIN_LIFE_SECONDS = BigInt((PLUGIN_TIMEOUT_MS + MINED_WITHIN_MS) / 1000);
/** After this, nobody is still working on a payment: what is unfinished is finished by a job. */
const UNFINISHED_SECONDS = 120;
const DECIMALS = 6;

export function createChainPayments(deps: ChainPaymentDeps): ChainPayments {
  const { tills, secret, store, jobs, log, clock } = deps;
  const charge = createCharges({ tills, secret });
  const authorized = createAuthorizedPayments(deps);
  const signed = createSignedPayments(deps);

  const tillOf = ({ chain, token }: { chain: { network: { id: number } }; token: string }): SettledTill => {
    const found = tills.find((till) => till.chain.network.id === chain.network.id && till.token === token);
    if (found === undefined) throw new Error(`payments in ${token} on chain ${chain.network.id} are not configured`);
    return found;
  };

  /** Finishes what a crash interrupted. Throws when it must look again later. */
  async function finish({ id }: { id: string }): Promise<void> {
    const payment = await store.find(id);
    if (payment === null || payment.status === 'released' || payment.status === 'refunded') return;
    const till = tillOf({ chain: { network: { id: payment.chainId } }, token: payment.token });
    await (payment.kind === 'transaction' ? signed.finish(till, payment) : authorized.finish(till, payment));
  }
  jobs.work(gatewayPaymentJob, finish);

  async function take(
    plugin: Plugin,
    till: SettledTill,
    payment: Authorization | SignedPayment,
    serve: () => Promise<void>,
  ): Promise<Taken> {
    const soon = BigInt(Math.floor(clock().getTime() / 1000)) + MIN_LIFE_SECONDS;
    if (payment.kind === 'authorization' && payment.validBefore < soon)
      return { refused: 'The authorization ends too soon' };
    const id = await store.claim(plugin.id, till, payment, async (tx, claimed) => {
      const later = { startAfter: UNFINISHED_SECONDS, owner: payment.from };
      await jobs.send(tx, gatewayPaymentJob, { id: claimed }, later);
    });
    if (id === null) return { refused: 'The payment was used before' };
    return payment.kind === 'transaction'
      ? signed.take(till, id, payment, serve)
      : authorized.take(till, id, payment, serve);
  }

  return {
    async pay(request, plugin, serve) {
      const expires = new Date(clock().getTime() + CHALLENGE_MS);
      try {
        const result = await charge({
          request,
          price: formatAmount(plugin.price, DECIMALS),
          description: `One call of ${plugin.id}`,
          expires: expires.toISOString(),
          settle: (till, payment) => take(plugin, tillOf(till), payment, serve),
        });
        if (result.paid) return { receipt: result.reference, headers: result.headers };
        await store.addChallenges(result.challengeIds, plugin.id, expires);
        return { headers: result.headers, problem: result.problem };
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        log.warn({ err: error }, 'the chain does not answer, payments over HTTP 402 are off');
        throw new AppError(503, 'payment_unavailable', {}, { cause: error });
      }
    },
  };
}
