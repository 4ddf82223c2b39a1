import type { SystemTx } from '@troupe/db';
import { sha256Hex, type Clock } from '@troupe/kernel';
import { sql } from 'kysely';
import { capture, createPost, insufficient, refused, type Done, type Entry, type Posting } from './posting.ts';

/**
 * Double-entry money. Every call joins the caller's transaction: what it belongs to happens with it, or neither does. What
 * is posted outside of one is carried together with all that is posted at the same moment.
 */

export interface Hold {
  key: string;
  account: string;
  amount: bigint;
  meta?: Record<string, unknown>;
}

export interface Balance {
  balance: bigint;
  held: bigint;
  available: bigint;
}

export interface LedgerEntry {
  id: bigint;
  transactionId: bigint;
  kind: string;
  amount: bigint;
  balanceAfter: bigint;
  meta: Record<string, unknown>;
  at: Date;
}

export interface Account {
  id: string;
  asset: string;
  /** A source or a sink outside of the platform. */
  allowNegative?: boolean;
}

export interface Ledger {
  /** Makes the accounts that are not there yet. */
  open: (tx: SystemTx, accounts: readonly Account[]) => Promise<void>;
  post: (tx: SystemTx, posting: Posting) => Promise<Done>;
  /** Promises a part of the balance. 402 `Insufficient balance` when there is not enough. */
  hold: (tx: SystemTx, hold: Hold) => Promise<Done>;
  /** Moves `amount` of a hold: out of its account, to the given entries, which sum to it. */
  capture: (tx: SystemTx, holdId: bigint, amount: bigint, posting: Posting) => Promise<Done>;
  /** Gives back what is left of a hold; answers how much. */
  release: (tx: SystemTx, holdId: bigint) => Promise<bigint>;
  /**
   * How an amount is taken from several accounts, the first one first. Locks them, and `also` what the caller is about to
   * post to. 402 `Insufficient balance` when they have not that much together.
   */
  spread: (tx: SystemTx, accounts: readonly string[], amount: bigint, also?: readonly string[]) => Promise<Entry[]>;
  balance: (tx: SystemTx, account: string) => Promise<Balance>;
  /** Of many accounts by one question, by their ids; one that nobody opened has nothing. */
  balances: (tx: SystemTx, accounts: readonly string[]) => Promise<(account: string) => Balance>;
  entries: (tx: SystemTx, account: string, limit: number) => Promise<LedgerEntry[]>;
}

type Amounts = Pick<Balance, 'balance' | 'held'>;
const balanceOf = ({ balance, held }: Amounts = { balance: 0n, held: 0n }): Balance => ({
  balance,
  held,
  available: balance - held,
});

/** What accounts hold, and how it came to be. */
function reading(): Pick<Ledger, 'balance' | 'balances' | 'entries'> {
  return {
    async balance(tx, account) {
      const row = await tx
        .selectFrom('ledger_accounts')
        .select(['balance', 'held'])
        .where('id', '=', account)
        .executeTakeFirst();
      return balanceOf(row);
    },
    async balances(tx, accounts) {
      const { rows } = await sql<Amounts & { id: string }>`
        select id, balance, held from ledger_accounts where id = any(${[...accounts]}::text[])`.execute(tx);
      const known = new Map(rows.map((row) => [row.id, row]));
      return (account) => balanceOf(known.get(account));
    },
    async entries(tx, account, limit) {
      const rows = await tx
        .selectFrom('ledger_entries as entry')
        .innerJoin('ledger_transactions as posting', 'posting.id', 'entry.transaction_id')
        .select([
          'entry.id',
          'entry.transaction_id',
          'posting.kind',
          'entry.amount',
          'entry.balance_after',
          'posting.meta',
          'entry.created_at',
        ])
        .where('entry.account_id', '=', account)
        .orderBy('entry.id', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        id: row.id,
        transactionId: row.transaction_id,
        kind: row.kind,
        amount: row.amount,
        balanceAfter: row.balance_after,
        meta: row.meta as Record<string, unknown>,
        at: row.created_at,
      }));
    },
  };
}

function spreading(): Pick<Ledger, 'spread'> {
  return {
    async spread(tx, accounts, amount, also = []) {
      const rows = await tx
        .selectFrom('ledger_accounts')
        .select(['id', 'balance', 'held'])
        .where('id', 'in', [...accounts, ...also])
        .orderBy('id')
        .forNoKeyUpdate()
        .execute();
      const available = new Map(rows.map(({ id, balance, held }) => [id, balance - held]));
      const entries: Entry[] = [];
      let left = amount;
      for (const account of new Set(accounts)) {
        const part = min(available.get(account) ?? 0n, left);
        if (part > 0n) entries.push({ account, amount: part });
        left -= part;
      }
      if (left > 0n) throw insufficient();
      return entries;
    },
  };
}

export function createLedger(deps: { clock: Clock }): Ledger {
  const { clock } = deps;

  return {
    async open(tx, accounts) {
      const rows = accounts.map(({ id, asset, allowNegative = false }) => ({
        id,
        asset,
        allow_negative: allowNegative,
        created_at: clock(),
      }));
      await tx
        .insertInto('ledger_accounts')
        .values(rows)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },
    post: createPost(clock),
    hold(tx, { key, account, amount, meta = {} }) {
      if (amount <= 0n) throw new Error('a hold needs an amount above zero');
      const hash = sha256Hex(JSON.stringify([account, String(amount)]));
      return answered(
        sql<Held>`select ledger_hold(${key}, ${hash}, ${account}, ${amount}, ${JSON.stringify(meta)}, ${clock()}) as done`.execute(
          tx,
        ),
      );
    },
    async capture(tx, holdId, amount, posting) {
      return capture(tx, holdId, amount, posting, clock());
    },
    async release(tx, holdId) {
      const { rows } = await sql<{
        released: bigint;
      }>`select ledger_release(${holdId}, ${clock()}) as released`.execute(tx);
      return rows[0]?.released ?? 0n;
    },
    ...spreading(),
    ...reading(),
  };
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

interface Held {
  done: { id: number; replayed: boolean };
}

async function answered(query: Promise<{ rows: Held[] }>): Promise<Done> {
  try {
    const { id, replayed } = (await query).rows[0]!.done;
    return { id: BigInt(id), replayed };
  } catch (error) {
    throw refused(error);
  }
}
