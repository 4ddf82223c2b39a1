import { ChainUnavailable, createCharges, type Authorization, type SignedPayment } from '@troupe/chain';
import { gatewayPaymentJob } from '@troupe/contract';
import { formatAmount } from '@troupe/domain';
import { AppError } from '@troupe/kernel';
import type { SettledTill } from '../tills.ts';
import { MINED_WITHIN_MS, type ChainPaymentDeps, type Taken } from './chain-deps.ts';
import { finishAuthorized, takeAuthorized } from './pay-authorized.ts';
import { finishSigned, takeSigned } from './pay-signed.ts';
import { PLUGIN_TIMEOUT_MS, type Plugin } from './plugins.ts';
import * as store from './store.ts';

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

function tillOf(tills: readonly SettledTill[], chainId: number, token: string): SettledTill {
  const found = tills.find((till) => till.chain.network.id === chainId && till.token === token);
  if (found === undefined) throw new Error(`payments in ${token} on chain ${chainId} are not configured`);
  return found;
}

/** Finishes what a crash interrupted. Throws when it must look again later. */
async function finish(deps: ChainPaymentDeps, id: string): Promise<void> {
  const payment = await store.find(deps.db.system, id);
  if (payment === null || payment.status === 'released' || payment.status === 'refunded') return;
  const till = tillOf(deps.tills, payment.chainId, payment.token);
  await (payment.kind === 'transaction' ? finishSigned(deps, till, payment) : finishAuthorized(deps, till, payment));
}

interface Offered {
  plugin: Plugin;
  payment: Authorization | SignedPayment;
  serve: () => Promise<void>;
}

async function take(deps: ChainPaymentDeps, till: SettledTill, { plugin, payment, serve }: Offered): Promise<Taken> {
  const { db, jobs, clock } = deps;
  const soon = BigInt(Math.floor(clock().getTime() / 1000)) + MIN_LIFE_SECONDS;
  if (payment.kind === 'authorization' && payment.validBefore < soon)
    return { refused: 'The authorization ends too soon' };
  const id = await db.asSystem(async (tx) => {
    const claimed = await store.claim(tx, { plugin: plugin.id, till, payment }, clock());
    const later = { startAfter: UNFINISHED_SECONDS, owner: payment.from };
    if (claimed !== null) await jobs.send(tx, gatewayPaymentJob, { id: claimed }, later);
    return claimed;
  });
  if (id === null) return { refused: 'The payment was used before' };
  return payment.kind === 'transaction'
    ? takeSigned(deps, till, { id, payment, serve })
    : takeAuthorized(deps, till, { id, payment, serve });
}

export function createChainPayments(deps: ChainPaymentDeps): ChainPayments {
  const { tills, secret, db, jobs, log, clock } = deps;
  const charge = createCharges({ tills, secret });
  jobs.work(gatewayPaymentJob, ({ id }) => finish(deps, id));

  return {
    async pay(request, plugin, serve) {
      const expires = new Date(clock().getTime() + CHALLENGE_MS);
      try {
        const result = await charge({
          request,
          price: formatAmount(plugin.price, DECIMALS),
          description: `One call of ${plugin.id}`,
          expires: expires.toISOString(),
          settle: ({ chain, token }, payment) =>
            take(deps, tillOf(tills, chain.network.id, token), { plugin, payment, serve }),
        });
        if (result.paid) return { receipt: result.reference, headers: result.headers };
        const { challengeIds: ids, headers, problem } = result;
        if (ids.length > 0)
          await db.asSystem((tx) => store.addChallenges(tx, { ids, plugin: plugin.id, expiresAt: expires }, clock()));
        return { headers, problem };
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        log.warn({ err: error }, 'the chain does not answer, payments over HTTP 402 are off');
        throw new AppError(503, 'payment_unavailable', {}, { cause: error });
      }
    },
  };
}
