import {
  ChainUnavailable,
  coversFees,
  isPayableAddress,
  L2_USDC,
  tokenBalance,
  type ChainClient,
  type Wallets,
} from '@troupe/chain';
import type { SplitReply } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { formatAmount, parseAmount, parseShare, splitShares } from '@troupe/domain';
import { AppError, iso, newId, sha256Hex, type Clock, type Log } from '@troupe/kernel';
import { owedAccount, SPLITS, USD_DECIMALS, type Ledger } from '@troupe/ledger';
import type { MustOwn } from '../access.ts';
import { otherRequest } from '../idempotency.ts';
import type { Admit } from '../spending.ts';
import type { Payouts } from './payouts.ts';
import * as store from './store.ts';

export interface SplitsDeps {
  db: Database;
  clock: Clock;
  log: Log;
  ledger: Ledger;
  wallets: Wallets;
  payouts: Payouts;
  mustOwn: MustOwn;
  admit: Admit;
  l2?: ChainClient;
}

interface NewSplit {
  agentId: string;
  name: string;
  totalAmount: string;
  recipients: { address: string; share: number }[];
}

interface Part {
  address: string;
  share: string;
  units: bigint;
}

/** Who gets how much; 400 says why nobody does. */
function partsOf({ totalAmount, recipients }: NewSplit): { units: bigint; parts: Part[] } {
  const units = parseAmount(totalAmount, USD_DECIMALS);
  if (units === null || units === 0n) throw new AppError(400, 'Invalid totalAmount');
  const shares = recipients.map(({ address, share }) => {
    if (!isPayableAddress(address)) throw new AppError(400, 'Invalid recipient address');
    const exact = parseShare(share);
    if (exact === null) throw new AppError(400, 'Invalid share');
    return exact;
  });
  const divided = splitShares(units, shares);
  if ('refused' in divided) throw new AppError(400, divided.refused);
  const parts = recipients.map(({ address, share }, index) => ({
    address,
    share: String(share),
    units: divided.parts[index]!,
  }));
  return { units, parts };
}

const shown = (split: store.SplitRow, parts: store.PartRow[]): SplitReply => ({
  success: true,
  splitId: split.id,
  status: 'completed',
  name: split.name,
  agentId: split.agent_id,
  totalAmount: formatAmount(split.units, USD_DECIMALS),
  payout: parts.some(({ status }) => status !== 'accrued') ? 'onchain' : 'accrued',
  recipients: parts.map(({ address, share, units, status, transaction_hash }) => ({
    address,
    share: Number(share),
    amount: formatAmount(units, USD_DECIMALS),
    status,
    txHash: status === 'accrued' ? null : transaction_hash,
  })),
  transactions: parts.flatMap(({ status, transaction_hash }) =>
    status === 'accrued' || transaction_hash === null ? [] : [transaction_hash],
  ),
  createdAt: iso(split.created_at),
});

/** Where the money of a split comes from, and to whom it is owed. */
function createPaying({ log, ledger, wallets, l2 }: SplitsDeps) {
  /** The agent's wallet, when it can pay all of it on-chain. */
  async function payer(
    owner: { userId: string; agentId: string },
    units: bigint,
    transfers: number,
  ): Promise<string | null> {
    if (!l2) return null;
    const wallet = (await wallets.list(owner)).find(({ kind }) => kind === 'platform');
    if (!wallet) return null;
    const { address } = wallet;
    try {
      const [held, canPayFees] = await Promise.all([
        tokenBalance(l2, L2_USDC, address),
        coversFees(l2, address, transfers),
      ]);
      return held >= units && canPayFees ? address : null;
    } catch (err) {
      if (!(err instanceof ChainUnavailable)) throw err;
      log.warn({ err }, 'the L2 network does not answer: a split is accrued');
      return null;
    }
  }

  async function post(tx: SystemTx, splitId: string, units: bigint, parts: Part[]): Promise<void> {
    const owed = parts.map(({ address, units: amount }) => ({ account: owedAccount(address), amount }));
    const accounts = new Map(owed.map(({ account }) => [account.id, account]));
    await ledger.open(tx, [SPLITS, ...accounts.values()]);
    await ledger.post(tx, {
      key: `split:${splitId}`,
      kind: 'split',
      entries: [
        { account: SPLITS.id, amount: -units },
        ...owed.map(({ account, amount }) => ({ account: account.id, amount })),
      ],
      meta: { splitId },
    });
  }

  return { payer, post };
}

function listing({ db }: SplitsDeps) {
  return {
    async list(userId: string, page: { limit: number; offset: number }) {
      const found = await store.listSplits(db.user(userId), page);
      const rows = found.slice(0, page.limit);
      const hasMore = rows.length < (found[0]?.found ?? 0);
      const parts = Map.groupBy(
        await store.partsOf(
          db.user(userId),
          rows.map(({ id }) => id),
        ),
        ({ split_id }) => split_id,
      );
      const splits = rows.map((row) => shown(row, parts.get(row.id) ?? []));
      return { splits, count: splits.length, hasMore };
    },
  };
}

export type Splits = ReturnType<typeof createSplits>;

export function createSplits(deps: SplitsDeps) {
  const { db, clock, payouts, mustOwn, admit } = deps;
  const { payer, post } = createPaying(deps);

  async function reply(split: store.SplitRow): Promise<SplitReply> {
    return shown(split, await store.partsOf(db.system, [split.id]));
  }

  return {
    async create(userId: string, given: NewSplit, key: string | null): Promise<SplitReply> {
      const { agentId, name } = given;
      await mustOwn(userId, agentId);
      const { units, parts } = partsOf(given);
      const hash = sha256Hex(JSON.stringify([agentId, name, String(units), given.recipients]));
      const from = await payer({ userId, agentId }, units, parts.length);
      const { split, isNew } = await db.asSystem(async (tx) => {
        const id = newId();
        const made = await store.addSplit(tx, {
          id,
          user_id: userId,
          agent_id: agentId,
          name,
          units,
          payout: from === null ? 'accrued' : 'onchain',
          paid_from: from,
          idempotency_key: key,
          request_hash: hash,
          created_at: clock(),
        });
        if (!made) return { split: await store.splitByKey(tx, userId, key ?? ''), isNew: false };
        await store.addParts(
          tx,
          parts.map((part, position) => ({
            split_id: id,
            position,
            user_id: userId,
            ...part,
            status: from === null || part.units === 0n ? 'accrued' : 'pending',
          })),
        );
        const payments = parts
          .filter((part) => part.units > 0n)
          .map((part) => ({ recipient: part.address, units: part.units }));
        await admit(tx, { userId, agentId, method: 'split', payments });
        await post(tx, id, units, parts);
        if (from !== null) await payouts.queue(tx, id, userId);
        return { split: made, isNew: true };
      });
      if (split?.request_hash !== hash) throw otherRequest();
      if (isNew && from !== null) await payouts.payNow(split.id);
      return reply(split);
    },

    ...listing(deps),
  };
}
