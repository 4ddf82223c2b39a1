import { broadcast, outcome, waitFor, type SignedTransaction, type TransactionOutcome } from '@troupe/chain';
import { settlementJob } from '@troupe/contract';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import { newId, type Clock, type Log } from '@troupe/kernel';
import { CHAIN, PLAY_REVENUE, PLAY_SOURCE, REVENUE, SETTLING, type Ledger } from '@troupe/ledger';
import type { SettlementKey } from '../settlement-key.ts';
import { addSettlement, findSettlement, isSettling, move } from './settlements-store.ts';
import * as store from './store.ts';
import type { PaymentSession } from './store.ts';

/** Vouchers become money: in the ledger at once; on-chain by a stored transaction that a job sees through. */

interface SettlementDeps {
  db: Database;
  ledger: Ledger;
  jobs: Jobs;
  log: Log;
  clock: Clock;
  /** Null: settlement in the ledger alone. */
  key: SettlementKey | null;
}

export type Settlements = ReturnType<typeof createSettlements>;

const MINED_WITHIN_MS = 10_000;

/** The end of a session, and what goes back. */
function createReturning({ ledger }: SettlementDeps) {
  /** Once nothing is under way any more: active again, or closed with the rest returned. */
  async function conclude(tx: SystemTx, sessionId: string): Promise<void> {
    const session = await store.lock(tx, sessionId);
    if (session === null || session.status === 'closed') return;
    if (await isSettling(tx, sessionId)) return;
    if (!session.closing) {
      await store.update(tx, sessionId, { status: 'active' });
      return;
    }
    if ((await store.heldUnits(tx, sessionId)) > 0n) return;
    await giveBack(tx, session, 0n);
    await store.update(tx, sessionId, { status: 'closed' });
  }

  /** Returns what is held for the session, except `keep`, which is held anew. */
  async function giveBack(tx: SystemTx, session: PaymentSession, keep: bigint): Promise<void> {
    const released = await ledger.release(tx, session.holdId);
    const back = released - keep;
    if (session.sandbox && back > 0n)
      await ledger.post(tx, {
        key: `session-return:${session.holdId}`,
        kind: 'session-return',
        entries: [
          { account: session.accountId, amount: -back },
          { account: PLAY_SOURCE.id, amount: back },
        ],
      });
    if (keep === 0n) return;
    const again = await ledger.hold(tx, {
      key: `session-rest:${session.id}:${session.holdId}`,
      account: session.accountId,
      amount: keep,
    });
    await store.update(tx, session.id, { hold_id: again.id });
  }

  return { conclude, giveBack };
}

/** What a settlement changes in the ledger and in its session. */
function createBooking(deps: SettlementDeps) {
  const { ledger, jobs, clock, key } = deps;
  /** Settles all pending vouchers of a session whose row is held. On-chain: answers what is under way. */
  async function settle(tx: SystemTx, session: PaymentSession): Promise<string | null> {
    if (session.pending === 0n) return null;
    const onChain = key !== null && !session.sandbox;
    const id = newId();
    const now = clock();
    const units = session.pending;
    await addSettlement(tx, {
      id,
      session_id: session.id,
      units,
      status: onChain ? 'pending' : 'done',
      created_at: now,
      done_at: onChain ? null : now,
    });
    const sum = await store.settleVouchers(tx, session.id, id);
    if (sum !== units) throw new Error(`vouchers of ${session.id} sum to ${sum}, not ${units}`);
    const to = session.sandbox ? PLAY_REVENUE : onChain ? SETTLING : REVENUE;
    await ledger.open(tx, [to]);
    await ledger.capture(tx, session.holdId, units, {
      key: `settlement:${id}`,
      kind: 'settlement',
      entries: [
        { account: session.accountId, amount: -units },
        { account: to.id, amount: units },
      ],
      meta: { session: session.id },
    });
    await store.update(tx, session.id, {
      pending: 0n,
      last_settled_at: now,
      ...(onChain ? { status: 'settling' } : {}),
    });
    if (!onChain) return null;
    await jobs.send(tx, settlementJob, { id }, { owner: session.accountId });
    return id;
  }

  const { conclude, giveBack } = createReturning(deps);

  return { settle, conclude, giveBack };
}

function createSending({ db, ledger, clock }: SettlementDeps, conclude: ReturnType<typeof createBooking>['conclude']) {
  /** `onChain` false: the operator took the key away meanwhile, so the money stays here. */
  const done = (id: string, sessionId: string, units: bigint, onChain: boolean): Promise<void> =>
    db.asSystem(async (tx) => {
      const to = onChain ? CHAIN : REVENUE;
      if (!(await move(tx, id, onChain ? 'sent' : 'pending', { status: 'done', done_at: clock() }))) return;
      await ledger.open(tx, [to]);
      await ledger.post(tx, {
        key: `settled:${id}`,
        kind: 'settled',
        entries: [
          { account: SETTLING.id, amount: -units },
          { account: to.id, amount: units },
        ],
        meta: { session: sessionId },
      });
      await conclude(tx, sessionId);
    });

  const send = (id: string, units: bigint, { payee, pay }: SettlementKey): Promise<SignedTransaction> =>
    pay(payee, units, async ({ hash, raw, nonce, from }) => {
      const stored = await move(db.system, id, 'pending', {
        status: 'sent',
        transaction_hash: hash,
        transaction_raw: raw,
        transaction_nonce: nonce,
        transaction_from: from,
      });
      if (!stored) throw new Error('another process settles it');
    });

  return { done, send };
}

/** Brings settlements to the chain. */
function createFinishing(deps: SettlementDeps, conclude: ReturnType<typeof createBooking>['conclude']) {
  const { db, key } = deps;
  const { done, send } = createSending(deps, conclude);

  /** Sees a settlement through, from wherever it was left. Throws when it must be looked at again. */
  async function finish({ id }: { id: string }): Promise<void> {
    const settlement = await findSettlement(db.system, id);
    if (settlement === undefined || settlement.status === 'done') return;
    const { session_id: sessionId, units, status } = settlement;
    if (key === null) {
      if (status === 'pending') return done(id, sessionId, units, false);
      throw new Error('a settlement was sent, and no chain is configured to find out about it');
    }
    let found: TransactionOutcome;
    if (status === 'pending') {
      found = await waitFor(key.chain, await send(id, units, key), MINED_WITHIN_MS);
    } else {
      const { transaction_hash: hash, transaction_raw: raw, transaction_nonce: nonce } = settlement;
      const sent = { hash, raw, nonce, from: settlement.transaction_from } as SignedTransaction;
      found = await outcome(key.chain, sent);
      if (found === 'unknown') {
        await broadcast(key.chain, sent.raw);
        found = await waitFor(key.chain, sent, MINED_WITHIN_MS);
      }
    }
    if (found === 'success') return done(id, sessionId, units, true);
    // It never happened and never will: sign another one.
    if (found !== 'unknown') await move(db.system, id, 'sent', { status: 'pending' });
    throw new Error(`a settlement is not through: ${found}`);
  }

  return finish;
}

export function createSettlements(deps: SettlementDeps) {
  const { jobs, log } = deps;
  const { settle, conclude, giveBack } = createBooking(deps);
  const finish = createFinishing(deps, conclude);

  jobs.work(settlementJob, finish);

  return {
    settle,
    conclude,
    giveBack,
    /** Does now what the job would do; whatever fails is left to the job. */
    async hurry(id: string): Promise<void> {
      await finish({ id }).catch((error: unknown) => log.info({ err: error, settlement: id }, 'settled later'));
    },
  };
}
