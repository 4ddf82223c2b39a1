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

class TransferIndexer implements Indexer {
  readonly #chain: IndexerOptions['chain'];
  readonly #log: IndexerOptions['log'];
  readonly #clock: Clock;
  readonly #tokens: readonly Address[];
  readonly #lookback: bigint;
  readonly #maxSpan: bigint;
  readonly #store: ReturnType<typeof createIndexStore>;
  #span: bigint;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();

  constructor({ chain, db, log, clock, tokens, lookback = 10_000n, span = 1_000n }: IndexerOptions) {
    this.#chain = chain;
    this.#log = log;
    this.#clock = clock;
    this.#tokens = tokens;
    this.#lookback = lookback;
    this.#maxSpan = span;
    this.#span = span;
    this.#store = createIndexStore({ db, clock, chainId: chain.network.id, reader: newId() });
  }

  transfers(address: Address, limit: number): Promise<ChainTransfer[]> {
    return this.#store.transfers(address, limit);
  }

  start(intervalMs = 5_000): void {
    const round = (): void => {
      this.#running = this.catchUp()
        .catch((err: unknown) => this.#log.warn({ err }, 'reading transfers from the chain failed, will go on'))
        .then(
          () => void (this.#timer = this.#stopping.signal.aborted ? undefined : setTimeout(round, intervalMs).unref()),
        );
    };
    round();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
    await this.#store.release();
  }

  async catchUp(): Promise<void> {
    while (!this.#stopping.signal.aborted && (await this.#store.claim())) {
      if (!(await this.#step())) return;
    }
  }

  #blockAt(number: bigint): Promise<Block> {
    return this.#chain.read((client) => client.getBlock({ blockNumber: number }));
  }

  /** Finds the last block that we and the chain agree on. */
  async #takeBackVoid(head: bigint): Promise<void> {
    const seen = await this.#store.seenBlocks();
    const [last] = seen;
    for (const block of seen) {
      const agreed = block.number <= head && (await this.#blockAt(block.number)).hash === block.hash;
      if (!agreed) continue;
      if (block !== last) await this.#store.rewind(block.number);
      return;
    }
    const first = seen.at(-1);
    if (first) await this.#store.rewind(first.number > this.#lookback ? first.number - this.#lookback : 0n);
  }

  /** Null when the chain changed while it was read. */
  async #readRange({ block, addresses }: Group, to: bigint): Promise<{ hash: Hex; found: ChainTransfer[] } | null> {
    const before = await this.#blockAt(to);
    const filter = {
      event: transferEvent(),
      address: [...this.#tokens],
      fromBlock: block + 1n,
      toBlock: to,
      strict: true as const,
    };
    const [sent, received] = await this.#chain.read((client) =>
      Promise.all([
        client.getLogs({ ...filter, args: { from: addresses } }),
        client.getLogs({ ...filter, args: { to: addresses } }),
      ]),
    );
    const logs = [...sent, ...received];
    const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber))];
    const blocks = await this.#chain.read((client) =>
      Promise.all(numbers.map((blockNumber) => client.getBlock({ blockNumber }))),
    );
    const times = new Map(blocks.map(({ number, timestamp }) => [number, new Date(Number(timestamp) * 1000)]));
    if (before.hash === null || (await this.#blockAt(to)).hash !== before.hash) return null;
    const found = logs.map(({ transactionHash, logIndex, address, args, blockNumber }) => ({
      hash: transactionHash,
      logIndex,
      token: address.toLowerCase() as Address,
      from: args.from.toLowerCase() as Address,
      to: args.to.toLowerCase() as Address,
      units: args.value,
      block: blockNumber,
      time: times.get(blockNumber) ?? this.#clock(),
    }));
    return { hash: before.hash, found };
  }

  /** False when there is nothing left to read. */
  async #step(): Promise<boolean> {
    const head = await this.#chain.read((client) => client.getBlockNumber());
    await this.#takeBackVoid(head);
    await this.#store.adoptNewAddresses(head > this.#lookback ? head - this.#lookback : 0n);
    const group = await this.#store.furthestBehind(head);
    if (group === null) return false;
    const to = group.block + this.#span < head ? group.block + this.#span : head;
    try {
      const range = await this.#readRange(group, to);
      if (range) await this.#store.save(group, to, range.hash, range.found);
      this.#span = this.#span * 2n < this.#maxSpan ? this.#span * 2n : this.#maxSpan;
    } catch (error) {
      // Nodes limit how much one request may find, each in its own words: ask for less.
      if (error instanceof ChainUnavailable || isUnanswered(error) || this.#span <= 1n) throw error;
      this.#span /= 2n;
    }
    return true;
  }
}

export const createIndexer = (options: IndexerOptions): Indexer => new TransferIndexer(options);
