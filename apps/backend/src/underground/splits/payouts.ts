import {
  broadcast,
  createSender,
  L2_USDC,
  transferCall,
  waitFor,
  type Address,
  type ChainClient,
  type Hex,
  type Wallets,
} from '@troupe/chain';
import { splitPayoutJob } from '@troupe/contract';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import type { Log } from '@troupe/kernel';
import { CHAIN, owedAccount, type Ledger } from '@troupe/ledger';
import * as store from './store.ts';

export interface PayoutDeps {
  db: Database;
  jobs: Jobs;
  log: Log;
  ledger: Ledger;
  wallets: Wallets;
  l2?: ChainClient;
}

/** How long a request waits for the chain; the job goes on after that. */
const INLINE_MS = 20_000;
const MINED_MS = 15_000;
const TAKE_UP_SECONDS = 60;

export interface Payouts {
  /** Within the transaction that makes the split: finishes it if this process does not. */
  queue: (tx: SystemTx, splitId: string, owner: string) => Promise<void>;
  /** Pays what is pending, for as long as a request may take. */
  payNow: (splitId: string) => Promise<void>;
}

/** What was paid is owed no more. */
function createSettling({ db, ledger }: PayoutDeps) {
  const settle = (split: store.SplitRow, part: store.PartRow): Promise<void> =>
    db.asSystem(async (tx) => {
      if (!(await store.changeStatus(tx, part, 'sent', 'paid'))) return;
      await ledger.open(tx, [CHAIN]);
      await ledger.post(tx, {
        key: `split-payout:${split.id}:${part.position}`,
        kind: 'split-payout',
        entries: [
          { account: owedAccount(part.address).id, amount: -part.units },
          { account: CHAIN.id, amount: part.units },
        ],
        meta: { splitId: split.id, transaction: part.transaction_hash },
      });
    });

  return settle;
}

/** The steps of paying a split on-chain. */
function createSteps(deps: PayoutDeps) {
  const { db, log, wallets } = deps;
  async function sendPending(split: store.SplitRow, chain: ChainClient, until: number): Promise<void> {
    const pending = await store.partsThatAre(db.system, split.id, 'pending');
    if (pending.length === 0) return;
    const owner = { userId: split.user_id, agentId: split.agent_id };
    const account = await wallets.account(owner, split.paid_from as Address);
    const sender = account && createSender({ chain, account });
    for (const part of pending) {
      if (performance.now() > until) return;
      let isStored = false;
      try {
        if (!sender) throw new Error('the wallet has no key here');
        await sender.send(transferCall(L2_USDC, part.address as Address, part.units), async (transaction) => {
          isStored = await store.markSent(db.system, part, transaction);
          if (!isStored) throw new Error('another process pays this part');
        });
      } catch (err) {
        log.warn({ err, split: split.id, part: part.position }, 'a part of a split was not sent');
        // Once stored it may be under way: the chain will tell. Before that nothing has happened, so it stays owed.
        if (!isStored) await store.changeStatus(db.system, part, 'pending', 'accrued');
      }
    }
  }

  const settle = createSettling(deps);

  /**
   * Whoever stored a transaction may have died before it was sent: first of all, before anything else takes its nonce.
   * Where it is refused, the chain tells afterwards what became of it.
   */
  async function resend(split: store.SplitRow, chain: ChainClient): Promise<void> {
    for (const part of await store.partsThatAre(db.system, split.id, 'sent'))
      await broadcast(chain, part.transaction_raw as Hex).catch((err: unknown) =>
        log.warn({ err, split: split.id, part: part.position }, 'a transaction of a split was refused'),
      );
  }

  /** True: all that was sent has come to an end. */
  async function settleSent(split: store.SplitRow, chain: ChainClient): Promise<boolean> {
    const sent = await store.partsThatAre(db.system, split.id, 'sent');
    const ended = await Promise.all(
      sent.map(async (part) => {
        const hash = part.transaction_hash as Hex;
        const from = part.transaction_from as Address;
        const result = await waitFor(chain, { hash, from, nonce: part.transaction_nonce! }, MINED_MS);
        if (result === 'success') await settle(split, part);
        else if (result !== 'unknown') await store.changeStatus(db.system, part, 'sent', 'accrued');
        return result !== 'unknown';
      }),
    );
    return ended.every(Boolean);
  }

  return { sendPending, resend, settleSent };
}

/**
 * Pays the parts of a split out of the agent's wallet. A transaction is stored before it is sent, and only for a part
 * that has none: whatever is interrupted, a part is paid once, or stays owed in the ledger.
 */
export function createPayouts(deps: PayoutDeps): Payouts {
  const { db, jobs, log, l2 } = deps;
  // Splits of one wallet queue up here, so that they do not take each other's nonces.
  const busy = new Map<string, Promise<unknown>>();

  async function inTurn(address: string, work: () => Promise<void>): Promise<void> {
    const turn = (busy.get(address) ?? Promise.resolve()).then(work);
    const ended = turn.catch(() => {});
    busy.set(address, ended);
    await turn.finally(() => {
      if (busy.get(address) === ended) busy.delete(address);
    });
  }

  const { sendPending, resend, settleSent } = createSteps(deps);

  async function work(splitId: string, until: number, again: boolean): Promise<boolean> {
    const split = await store.findSplit(db.system, splitId);
    if (!split || split.payout !== 'onchain') return true;
    if (!l2) throw new Error('a split waits for the L2 network, which is not configured');
    let isDone = false;
    await inTurn(split.paid_from!, async () => {
      if (again) await resend(split, l2);
      await sendPending(split, l2, until);
      isDone = await settleSent(split, l2);
    });
    return isDone;
  }

  jobs.work(
    splitPayoutJob,
    async ({ splitId }) => {
      if (!(await work(splitId, Infinity, true))) throw new Error('transactions of a split are not mined yet');
    },
    { perOwner: 1 },
  );

  return {
    async queue(tx, splitId, owner) {
      await jobs.send(tx, splitPayoutJob, { splitId }, { startAfter: TAKE_UP_SECONDS, owner });
    },
    async payNow(splitId) {
      try {
        await work(splitId, performance.now() + INLINE_MS, false);
      } catch (err) {
        log.warn({ err, split: splitId }, 'a split is paid later');
      }
    },
  };
}
