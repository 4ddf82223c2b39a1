import type { Database } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import { sql } from 'kysely';
import type { Address, Hex } from 'viem';

export interface ChainTransfer {
  hash: Hex;
  logIndex: number;
  token: Address;
  from: Address;
  to: Address;
  units: bigint;
  block: bigint;
  time: Date;
}

/** Addresses that are known up to the same block. */
export interface Group {
  block: bigint;
  addresses: Address[];
}

const CLAIM_MS = 30_000;
const GROUP_SIZE = 100;
/** Checkpoints kept: the deepest reorganization that is undone exactly. */
const SEEN_BLOCKS = 200;

export interface IndexStoreOptions {
  db: Database;
  clock: Clock;
  chainId: number;
  reader: string;
}

/** One process at a time reads the chain. */
function leasing({ db, clock, chainId, reader }: IndexStoreOptions) {
  return {
    /** One process at a time: true when it is this one. */
    async claim(): Promise<boolean> {
      const now = clock();
      const until = new Date(now.getTime() + CLAIM_MS);
      const claimed = await db.system
        .insertInto('chain_readers')
        .values({ chain_id: chainId, reader, until })
        .onConflict((conflict) =>
          conflict
            .column('chain_id')
            .doUpdateSet({ reader, until })
            .where((eb) => eb.or([eb('chain_readers.reader', '=', reader), eb('chain_readers.until', '<', now)])),
        )
        .returning('chain_id')
        .execute();
      return claimed.length > 0;
    },

    async release(): Promise<void> {
      await db.system
        .deleteFrom('chain_readers')
        .where('chain_id', '=', chainId)
        .where('reader', '=', reader)
        .execute();
    },
  };
}

function reading({ db, chainId }: IndexStoreOptions) {
  return {
    async transfers(address: Address, limit: number): Promise<ChainTransfer[]> {
      const own = address.toLowerCase();
      const rows = await db.system
        .selectFrom('chain_transfers')
        .selectAll()
        .where('chain_id', '=', chainId)
        .where((eb) => eb.or([eb('from_address', '=', own), eb('to_address', '=', own)]))
        .orderBy('block_number', 'desc')
        .orderBy('log_index', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        hash: row.transaction_hash as Hex,
        logIndex: row.log_index,
        token: row.token as Address,
        from: row.from_address as Address,
        to: row.to_address as Address,
        units: BigInt(row.units),
        block: row.block_number,
        time: row.block_time,
      }));
    },
  };
}

/** What was read for which addresses. */
function groups(deps: IndexStoreOptions) {
  const { db, chainId } = deps;
  return {
    async adoptNewAddresses(block: bigint): Promise<void> {
      await sql`
        insert into chain_cursors (chain_id, address, block_number)
        select distinct ${chainId}::integer, lower(address), ${block}::bigint from wallets
        where not exists (
          select from chain_cursors where chain_id = ${chainId} and chain_cursors.address = lower(wallets.address))
        on conflict do nothing`.execute(db.system);
    },

    /** Null when all have reached `head`. */
    async furthestBehind(head: bigint): Promise<Group | null> {
      const behind = await db.system
        .selectFrom('chain_cursors')
        .select(['address', 'block_number'])
        .where('chain_id', '=', chainId)
        .where('block_number', '<', head)
        .orderBy('block_number')
        .limit(GROUP_SIZE)
        .execute();
      const [first] = behind;
      if (first === undefined) return null;
      const same = behind.filter(({ block_number }) => block_number === first.block_number);
      return { block: first.block_number, addresses: same.map(({ address }) => address as Address) };
    },

    save: ({ addresses }: Group, to: bigint, hash: Hex, found: ChainTransfer[]): Promise<void> =>
      db.asSystem(async (tx) => {
        if (found.length > 0) {
          await tx
            .insertInto('chain_transfers')
            .values(found.map((transfer) => rowOf(chainId, transfer)))
            .onConflict((conflict) => conflict.doNothing())
            .execute();
        }
        await tx
          .updateTable('chain_cursors')
          .set({ block_number: to })
          .where('chain_id', '=', chainId)
          .where('address', 'in', addresses)
          .execute();
        await tx
          .insertInto('chain_blocks')
          .values({ chain_id: chainId, number: to, hash })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        await sql`
          delete from chain_blocks where chain_id = ${chainId} and number < (
            select min(number) from (
              select number from chain_blocks where chain_id = ${chainId} order by number desc limit ${SEEN_BLOCKS}
            ) newest)`.execute(tx);
      }),

    ...reading(deps),
  };
}

export function createIndexStore(deps: IndexStoreOptions) {
  const { db, chainId } = deps;
  return {
    ...leasing(deps),
    /** The newest first. */
    seenBlocks: (): Promise<{ number: bigint; hash: string }[]> =>
      db.system
        .selectFrom('chain_blocks')
        .select(['number', 'hash'])
        .where('chain_id', '=', chainId)
        .orderBy('number', 'desc')
        .execute(),

    /** Forgets everything after that block, so that it is read again. */
    rewind: (block: bigint): Promise<void> =>
      db.asSystem(async (tx) => {
        await tx.deleteFrom('chain_blocks').where('chain_id', '=', chainId).where('number', '>', block).execute();
        await tx
          .deleteFrom('chain_transfers')
          .where('chain_id', '=', chainId)
          .where('block_number', '>', block)
          .execute();
        await tx
          .updateTable('chain_cursors')
          .set({ block_number: block })
          .where('chain_id', '=', chainId)
          .where('block_number', '>', block)
          .execute();
      }),

    ...groups(deps),
  };
}

const rowOf = (chainId: number, transfer: ChainTransfer) => ({
  chain_id: chainId,
  transaction_hash: transfer.hash,
  log_index: transfer.logIndex,
  token: transfer.token,
  from_address: transfer.from,
  to_address: transfer.to,
  units: transfer.units.toString(),
  block_number: transfer.block,
  block_time: transfer.time,
});
