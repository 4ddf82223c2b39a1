import pg from 'pg';
import type { Log } from '@troupe/kernel';
import { readRows } from './rows.ts';

interface Idle {
  client: pg.Client;
  since: number;
}

const LOOK_MS = 1_000;

/**
 * Open connections, for the next query. How many there are is bounded by whoever asks (connection-turns.ts), so that nothing
 * is waited for here: pg's own pool has two timers, two listeners and a queue for each query, which cost more than to send it.
 */
export class Connections {
  readonly #options: pg.ClientConfig;
  readonly #log: Log;
  readonly #idleMs: number;
  readonly #open = new Set<pg.Client>();
  /** The one that came back last is taken first, so that those which are not needed can go. */
  readonly #idle: Idle[] = [];
  #sweeper: NodeJS.Timeout | undefined;
  #ended: (() => void) | undefined;

  constructor(options: pg.ClientConfig, idleMs: number, log: Log) {
    this.#options = options;
    this.#idleMs = idleMs;
    this.#log = log;
  }

  get total(): number {
    return this.#open.size;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** One that nobody uses; undefined: there is none, and one has to be opened. */
  take(): pg.Client | undefined {
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      if (isAlive(last.client)) return last.client;
      this.drop(last.client);
    }
    return undefined;
  }

  async open(): Promise<pg.Client> {
    if (this.#ended) throw new Error('The database was closed here');
    const client = readRows(new pg.Client(this.#options));
    this.#open.add(client);
    // In use, the query in flight fails of it; idle, the next one takes another. Without a listener it would end the process.
    client.on('error', (err) => this.#broke(client, err));
    try {
      await client.connect();
    } catch (error) {
      this.#gone(client);
      throw error;
    }
    return client;
  }

  /** It may be used by others again. */
  give(client: pg.Client): void {
    if (this.#ended) return this.drop(client);
    this.#idle.push({ client, since: performance.now() });
    this.#sweeper ??= setInterval(() => this.#sweep(), LOOK_MS).unref();
  }

  drop(client: pg.Client): void {
    client.end().then(
      () => this.#gone(client),
      () => this.#gone(client),
    );
  }

  /** Closes those that are idle, and the others as they come back; settles when none is left. */
  end(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = resolve;
    for (const { client } of this.#idle.splice(0)) this.drop(client);
    if (this.#open.size === 0) resolve();
    return promise;
  }

  #broke(client: pg.Client, err: Error): void {
    const at = this.#idle.findIndex((idle) => idle.client === client);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    if (!this.#ended) this.#log.warn({ err }, 'an idle database connection broke');
    this.drop(client);
  }

  #gone(client: pg.Client): void {
    this.#open.delete(client);
    if (this.#open.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    this.#ended?.();
  }

  /** The oldest come first. */
  #sweep(): void {
    const before = performance.now() - this.#idleMs;
    const rested = this.#idle.findIndex(({ since }) => since > before);
    for (const { client } of this.#idle.splice(0, rested < 0 ? this.#idle.length : rested)) this.drop(client);
  }
}

export const isAlive = (client: pg.Client): boolean =>
  (client as unknown as { connection: { stream: { writable: boolean } } }).connection.stream.writable;
