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
import type { Database, Jobs, SystemTx } from '@troupe/db';
import { formatAmount } from '@troupe/domain';
import { AppError, type Clock, type Log } from '@troupe/kernel';
import type { SettlementKey } from '../settlement-key.ts';
import { PLUGIN_TIMEOUT_MS, type Plugin } from './plugins.ts';
import * as store from './store.ts';

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
  db: Database;
  jobs: Jobs;
  log: Log;
  clock: Clock;
  /** Books the income in the transaction that settles the payment. */
  book: (tx: SystemTx, payment: store.GatewayPayment) => Promise<void>;
}

const CHALLENGE_MS = 5 * 60_000;
const MINED_WITHIN_MS = 20_000;
/** An authorization must outlive the plugin and its own settlement. */
const MIN_LIFE_SECONDS = BigInt((PLUGIN_TIMEOUT_MS + MINED_WITHIN_MS) / 1000);
/** After this, nobody is still working on a payment: what is unfinished is finished by a job. */
const UNFINISHED_SECONDS = 120;
const DECIMALS = 6;

type Settled = { refused: string } | { reference: string };

/** The states of a payment: claimed with a signed transfer, sent, settled or released. */
function createTaking(deps: ChainPaymentDeps) {
  const { key, db, log, clock, book } = deps;
  const { chain, token, sender } = key;
  const release = (id: string, from: 'verified' | 'sent') => store.release(db.system, id, from, clock());

  async function settled(id: string): Promise<void> {
    const payment = await store.find(db.system, id);
    if (payment === null) return;
    await db.asSystem(async (tx) => {
      if (await store.settle(tx, id, clock())) await book(tx, payment);
    });
  }

  /** Serves, then moves the money. */
  async function take(id: string, authorization: Authorization, serve: () => Promise<void>): Promise<Settled> {
    const call = authorizedTransferCall(token, authorization);
    try {
      if (!(await wouldSucceed(chain, key.address, call))) {
        await release(id, 'verified');
        return { refused: 'The transfer would fail' };
      }
      await serve();
    } catch (error) {
      await release(id, 'verified');
      throw error;
    }
    const sent = await sender
      .send(call, (transaction) => store.sending(db.system, id, transaction, clock()))
      .catch(async (error: unknown) => {
        // Once it is stored it may be under way, and the job finds out.
        if (!(await release(id, 'verified'))) throw error;
        log.warn({ err: error, payment: id }, 'a payment could not be sent');
        return null;
      });
    if (sent === null) return { refused: 'The transfer failed' };
    const found = await waitFor(chain, sent, MINED_WITHIN_MS);
    if (found === 'reverted' || found === 'dropped') {
      await release(id, 'sent');
      return { refused: 'The transfer failed' };
    }
    // Not mined yet: it is on its way, and the job books it.
    if (found === 'success') await settled(id);
    return { reference: sent.hash };
  }

  return { take, settled, release };
}

/** Finishes what a crash interrupted. Throws when it must look again later. */
async function finish(
  { key: { chain, token }, db }: ChainPaymentDeps,
  { settled, release }: ReturnType<typeof createTaking>,
  id: string,
): Promise<void> {
  const payment = await store.find(db.system, id);
  if (payment?.status === 'verified') await release(id, 'verified');
  if (payment?.status !== 'sent' || payment.transaction === null) return;
  const found = await outcome(chain, payment.transaction);
  if (found === 'unknown') {
    await broadcast(chain, payment.transaction.raw);
    throw new Error('the settlement of a payment is still under way');
  }
  // The nonce of the signed transfer tells, whoever sent it.
  const used = await authorizationUsed(chain, token, payment.payer as Address, payment.nonce as Address);
  await (used ? settled(id) : release(id, 'sent'));
}

export function createChainPayments(deps: ChainPaymentDeps): ChainPayments {
  const { key, secret, db, jobs, log, clock } = deps;
  const { chain, payee, token } = key;
  const charge = createCharges({ chain, token, payee, secret });
  const taking = createTaking(deps);
  jobs.work(gatewayPaymentJob, ({ id }) => finish(deps, taking, id));

  async function settle(plugin: string, authorization: Authorization, serve: () => Promise<void>): Promise<Settled> {
    const soon = BigInt(Math.floor(clock().getTime() / 1000)) + MIN_LIFE_SECONDS;
    if (authorization.validBefore < soon) return { refused: 'The authorization ends too soon' };
    const claim = { plugin, chainId: chain.network.id, token, authorization };
    const id = await db.asSystem(async (tx) => {
      const claimed = await store.claim(tx, claim, clock());
      const look = { startAfter: UNFINISHED_SECONDS, owner: authorization.from };
      if (claimed !== null) await jobs.send(tx, gatewayPaymentJob, { id: claimed }, look);
      return claimed;
    });
    return id === null ? { refused: 'The payment was used before' } : taking.take(id, authorization, serve);
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
          settle: (authorization) => settle(plugin.id, authorization, serve),
        });
        if (result.paid) return { receipt: result.reference, headers: result.headers };
        const { challengeId, headers, problem } = result;
        if (challengeId !== null) {
          const challenge = { id: challengeId, plugin: plugin.id, expiresAt: expires };
          await db.asSystem((tx) => store.addChallenge(tx, challenge, clock()));
        }
        return { headers, problem };
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        log.warn({ err: error }, 'the chain does not answer, payments over HTTP 402 are off');
        throw new AppError(503, 'payment_unavailable', {}, { cause: error });
      }
    },
  };
}
