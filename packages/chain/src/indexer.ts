import type { Database } from '@troupe/db';
import { newId, type Clock, type Log } from '@troupe/kernel';
import type { Address, Block, Hex } from 'viem';
import { ChainUnavailable, isUnanswered, type ChainClient } from './client.ts';
import { createIndexStore, type ChainTransfer, type Group } from './indexer-store.ts';
import { viem } from './viem.ts';

/**
 * Reads the Transfer logs of some tokens for the platform's own addresses into the database. It goes on where it
 * stopped, and takes back what a reorganization of the chain has made void.
 */

const transferEvent = () =>
  viem().parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

export interface IndexerOptions {
  chain: ChainClient;
  db: Database;
  log: Log;
  clock: Clock;
  tokens: readonly Address[];
  /** How far back the history of a new address begins, in blocks. */
  lookback?: bigint;
  /** Most blocks that one request asks for. */
  span?: bigint;
}

export interface Indexer {
  /** Reads until every address is at the head of the chain; at once when another process is reading. */
  catchUp: () => Promise<void>;
  transfers: (address: Address, limit: number) => Promise<ChainTransfer[]>;
  /** Catches up again and again, until stopped. */
  start: (intervalMs?: number) => void;
  stop: () => Promise<void>;
}

export function createIndexer(options: IndexerOptions): Indexer {
  const { chain, db, log, clock, tokens, lookback = 10_000n, span: maxSpan = 1_000n } = options;
  const store = createIndexStore({ db, clock, chainId: chain.network.id, reader: newId() });
  let span = maxSpan;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const stopping = new AbortController();

  const blockAt = (number: bigint): Promise<Block> => chain.read((client) => client.getBlock({ blockNumber: number }));

  /** Finds the last block that we and the chain agree on. */
  async function takeBackVoid(head: bigint): Promise<void> {
    const seen = await store.seenBlocks();
    const [last] = seen;
    for (const block of seen) {
      const agreed = block.number <= head && (await blockAt(block.number)).hash === block.hash;
      if (!agreed) continue;
      if (block !== last) await store.rewind(block.number);
      return;
    }
    const first = seen.at(-1);
    if (first) await store.rewind(first.number > lookback ? first.number - lookback : 0n);
  }

  /** Null when the chain changed while it was read. */
  async function readRange(
    { block, addresses }: Group,
    to: bigint,
  ): Promise<{ hash: Hex; found: ChainTransfer[] } | null> {
    const before = await blockAt(to);
    const filter = {
      event: transferEvent(),
      address: [...tokens],
      fromBlock: block + 1n,
      toBlock: to,
      strict: true as const,
    };
    const [sent, received] = await chain.read((client) =>
      Promise.all([
        client.getLogs({ ...filter, args: { from: addresses } }),
        client.getLogs({ ...filter, args: { to: addresses } }),
      ]),
    );
    const logs = [...sent, ...received];
    const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber))];
    const blocks = await chain.read((client) =>
      Promise.all(numbers.map((blockNumber) => client.getBlock({ blockNumber }))),
    );
    const times = new Map(blocks.map(({ number, timestamp }) => [number, new Date(Number(timestamp) * 1000)]));
    if (before.hash === null || (await blockAt(to)).hash !== before.hash) return null;
    const found = logs.map(({ transactionHash, logIndex, address, args, blockNumber }) => ({
      hash: transactionHash,
      logIndex,
      token: address.toLowerCase() as Address,
      from: args.from.toLowerCase() as Address,
      to: args.to.toLowerCase() as Address,
      units: args.value,
      block: blockNumber,
      time: times.get(blockNumber) ?? clock(),
    }));
    return { hash: before.hash, found };
  }

  /** False when there is nothing left to read. */
  async function step(): Promise<boolean> {
    const head = await chain.read((client) => client.getBlockNumber());
    await takeBackVoid(head);
    await store.adoptNewAddresses(head > lookback ? head - lookback : 0n);
    const group = await store.furthestBehind(head);
    if (group === null) return false;
    const to = group.block + span < head ? group.block + span : head;
    try {
      const range = await readRange(group, to);
      if (range) await store.save(group, to, range.hash, range.found);
      span = span * 2n < maxSpan ? span * 2n : maxSpan;
    } catch (error) {
      // Nodes limit how much one request may find, each in its own words: ask for less.
      if (error instanceof ChainUnavailable || isUnanswered(error) || span <= 1n) throw error;
      span /= 2n;
    }
    return true;
  }

  async function catchUp(): Promise<void> {
    while (!stopping.signal.aborted && (await store.claim())) {
      if (!(await step())) return;
    }
  }

  return {
    catchUp,
    transfers: (address, limit) => store.transfers(address, limit),
    start(intervalMs = 5_000) {
      const round = (): void => {
        running = catchUp()
          .catch((err: unknown) => log.warn({ err }, 'reading transfers from the chain failed, will go on'))
          .then(() => void (timer = stopping.signal.aborted ? undefined : setTimeout(round, intervalMs).unref()));
      };
      round();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
      await store.release();
    },
  };
}
