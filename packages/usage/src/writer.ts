import type { Database } from '@troupe/db';
import type { Clock, Log } from '@troupe/kernel';
import { addCall, isFull, newBatch, singles, sizeOf, type AiEvent, type Batch, type ToolEvent } from './batch.ts';
import { writeBatch } from './write.ts';

export interface UsageWriter {
  /** Never waits and never throws: the event is written with others, within half a second. */
  record: (event: AiEvent) => void;
  recordTool: (event: ToolEvent) => void;
  /** Resolves when everything recorded so far is written; rejects when it could not be. */
  flush: () => Promise<void>;
  /** Writes what is left, then stops. */
  close: () => Promise<void>;
}

const FLUSH_MS = 500;
/** While the database does not answer this much is kept; beyond it the oldest batch is given up, and the log says so. */
const MAX_BATCHES = 100;
const CLOSE_TRIES = 3;

export interface WriterOptions {
  db: Database;
  log: Log;
  clock: Clock;
}

class BatchWriter implements UsageWriter {
  readonly #db: Database;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #waiting: Batch[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The first batch is on its way: it takes no more events. */
  #writing = false;
  #last = Promise.resolve();
  #closed = false;

  constructor({ db, log, clock }: WriterOptions) {
    this.#db = db;
    this.#log = log;
    this.#clock = clock;
  }

  record(event: AiEvent): void {
    const batch = this.#open();
    addCall(batch, event, this.#clock().getTime());
    this.#sendIfFull(batch);
  }

  recordTool(event: ToolEvent): void {
    const batch = this.#open();
    batch.tools.push({ ...event, at: this.#clock().getTime() });
    this.#sendIfFull(batch);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (let tries = 1; this.#waiting.length > 0; tries += 1) {
      try {
        await this.flush();
      } catch (error) {
        if (tries >= CLOSE_TRIES) throw error;
      }
    }
  }

  /** One after the other; each reports its own failure only. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const next = this.#last.catch(() => {}).then(() => this.#writeAll());
    this.#last = next;
    return next;
  }

  #open(): Batch {
    let batch = this.#waiting.at(-1);
    if (!batch || isFull(batch) || (this.#waiting.length === 1 && this.#writing)) {
      batch = newBatch();
      this.#waiting.push(batch);
      if (this.#waiting.length > MAX_BATCHES) {
        const [lost] = this.#waiting.splice(this.#writing ? 1 : 0, 1);
        this.#log.error({ events: sizeOf(lost!) }, 'usage was lost: the database does not answer');
      }
    }
    if (!this.#closed) this.#timer ??= setTimeout(() => void this.#tick(), FLUSH_MS);
    return batch;
  }

  /** Under load a batch goes when it is full: what waits longer costs the collector of garbage more than the call. */
  #sendIfFull(batch: Batch): void {
    if (isFull(batch) && this.#waiting.length === 1 && !this.#writing) void this.#tick();
  }

  async #tick(): Promise<void> {
    try {
      await this.flush();
    } catch (error) {
      this.#log.warn({ err: error }, 'usage could not be written, trying again');
      if (!this.#closed) this.#timer ??= setTimeout(() => void this.#tick(), FLUSH_MS);
    }
  }

  /** A batch keeps its id until it is known to be written. */
  async #writeAll(): Promise<void> {
    this.#writing = true;
    try {
      for (let left = this.#waiting.length; left > 0 && this.#waiting[0]; left -= 1) {
        await this.#writeOrSplit(this.#waiting[0]);
        this.#waiting.shift();
      }
    } finally {
      this.#writing = false;
    }
  }

  /** One event that the database will never take must not hold up the others: then each is written by itself. */
  async #writeOrSplit(batch: Batch): Promise<void> {
    try {
      await writeBatch(this.#db, batch, this.#clock());
    } catch (error) {
      if (!isDataError(error)) throw error;
      for (const single of singles(batch)) await this.#writeSingle(single);
    }
  }

  async #writeSingle(single: Batch): Promise<void> {
    try {
      await writeBatch(this.#db, single, this.#clock());
    } catch (error) {
      if (!isDataError(error)) throw error;
      this.#log.error(
        { err: error, event: single.groups[0] ?? single.tools[0] },
        'usage was lost: it cannot be written',
      );
    }
  }
}

export const createWriter = (options: WriterOptions): UsageWriter => new BatchWriter(options);

const isDataError = (error: unknown): boolean => (error as { code?: string } | null)?.code?.startsWith('22') ?? false;
