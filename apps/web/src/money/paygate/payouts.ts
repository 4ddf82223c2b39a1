import {
  broadcast,
  isHexAddress,
  outcome,
  waitFor,
  type SignedTransaction,
  type TransactionOutcome,
} from '@troupe/chain';
import { payoutJob } from '@troupe/contract';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import { CHAIN, USD, walletAccount, type Account, type Ledger } from '@troupe/ledger';
import type { SettlementKey } from '../settlement-key.ts';
import * as store from './payouts-store.ts';

/** Payments to addresses outside of the platform: on-chain with the settlement key, else owed until that is possible. */

interface PayoutDeps {
  db: Database;
  ledger: Ledger;
  jobs: Jobs;
  clock: Clock;
  /** Null: nothing can be sent. */
  key: SettlementKey | null;
}

export interface Payouts {
  /** Where the money of a payment to that address goes: a wallet on the platform is credited, anybody else is owed. */
  payee: (address: string) => Promise<Account>;
  /** Within the transaction that makes the payment. */
  owe: (tx: SystemTx, payout: { id: string; address: string; units: bigint }) => Promise<void>;
}

const MINED_WITHIN_MS = 20_000;
/** An address becomes a wallet here, or an operator configures a chain: that is looked for now and then. */
const LOOK_AGAIN_SECONDS = 3600;

/** Solana addresses tell upper from lower case. */
const owedTo = (address: string): Account => ({
  id: `owed:${isHexAddress(address) ? address.toLowerCase() : address}`,
  asset: USD,
});

/** The steps of a payout: sent, looked up, booked. */
function createMoves({ db, ledger, clock }: PayoutDeps) {
  const done = (
    { id, address, units }: store.PayoutRow,
    from: store.PayoutStatus,
    to: 'paid' | 'credited',
  ): Promise<void> =>
    db.asSystem(async (tx) => {
      if (!(await store.movePayout(tx, id, { from, to, now: clock() }))) return;
      const account = to === 'paid' ? CHAIN : walletAccount(address);
      await ledger.open(tx, [account]);
      await ledger.post(tx, {
        key: `payout:${id}`,
        kind: 'payout',
        entries: [
          { account: owedTo(address).id, amount: -units },
          { account: account.id, amount: units },
        ],
        meta: { payment: id },
      });
    });

  async function send(
    { id, address, units }: store.PayoutRow,
    { chain, pay }: SettlementKey,
  ): Promise<TransactionOutcome> {
    const sent = await pay(address as `0x${string}`, units, async ({ hash, raw, nonce, from }) => {
      const set = {
        transaction_hash: hash,
        transaction_raw: raw,
        transaction_nonce: nonce,
        transaction_from: from,
      };
      if (!(await store.movePayout(db.system, id, { from: 'owed', to: 'sent', set, now: clock() })))
        throw new Error('another process pays it');
    });
    return waitFor(chain, sent, MINED_WITHIN_MS);
  }

  async function lookUp(row: store.PayoutRow, { chain }: SettlementKey): Promise<TransactionOutcome> {
    const { transaction_hash: hash, transaction_raw: raw, transaction_nonce: nonce, transaction_from: from } = row;
    const sent = { hash, raw, nonce, from } as SignedTransaction;
    const found = await outcome(chain, sent);
    if (found !== 'unknown') return found;
    await broadcast(chain, sent.raw);
    return waitFor(chain, sent, MINED_WITHIN_MS);
  }

  return { done, send, lookUp };
}

export function createPayouts(deps: PayoutDeps): Payouts {
  const { db, jobs, clock, key } = deps;
  const isWallet = async (address: string) => isHexAddress(address) && (await store.isWallet(db.system, address));

  const { done, send, lookUp } = createMoves(deps);

  /** Takes it as far as it gets. Throws when it must be looked at again soon. */
  async function payOut({ id }: { id: string }): Promise<void> {
    const row = await store.findPayout(db.system, id);
    if (row === undefined || (row.status !== 'owed' && row.status !== 'sent')) return;
    if (row.status === 'owed' && (await isWallet(row.address))) return done(row, 'owed', 'credited');
    if (key === null || !isHexAddress(row.address)) {
      await jobs.send(db.system, payoutJob, { id }, { startAfter: LOOK_AGAIN_SECONDS, owner: row.address });
      return;
    }
    const found = row.status === 'owed' ? await send(row, key) : await lookUp(row, key);
    if (found === 'success') return done(row, 'sent', 'paid');
    // It never happened and never will: it is owed as before.
    if (found !== 'unknown') await store.movePayout(db.system, id, { from: 'sent', to: 'owed', now: clock() });
    throw new Error(`a payout is not through: ${found}`);
  }
  jobs.work(payoutJob, payOut);

  return {
    payee: async (address) => ((await isWallet(address)) ? walletAccount(address) : owedTo(address)),
    async owe(tx, { id, address, units }) {
      await store.addPayout(tx, { id, address, units }, clock());
      await jobs.send(tx, payoutJob, { id }, { owner: address });
    },
  };
}
