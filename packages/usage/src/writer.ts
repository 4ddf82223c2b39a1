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

export function createWriter({ db, log, clock }: WriterOptions): UsageWriter {
  const waiting: Batch[] = [];
  let timer: NodeJS.Timeout | undefined;
  /** The first batch is on its way: it takes no more events. */
  let writing = false;
  let last = Promise.resolve();
  let closed = false;

  function open(): Batch {
    let batch = waiting.at(-1);
    if (!batch || isFull(batch) || (waiting.length === 1 && writing)) {
      batch = newBatch();
      waiting.push(batch);
      if (waiting.length > MAX_BATCHES) {
        const [lost] = waiting.splice(writing ? 1 : 0, 1);
        log.error({ events: sizeOf(lost!) }, 'usage was lost: the database does not answer');
      }
    }
    if (!closed) timer ??= setTimeout(() => void tick(), FLUSH_MS);
    return batch;
  }

  /** Under load a batch goes when it is full: what waits longer costs the collector of garbage more than the call. */
  function sendIfFull(batch: Batch): void {
    if (isFull(batch) && waiting.length === 1 && !writing) void tick();
  }

  async function tick(): Promise<void> {
    try {
      await flush();
    } catch (error) {
      log.warn({ err: error }, 'usage could not be written, trying again');
      if (!closed) timer ??= setTimeout(() => void tick(), FLUSH_MS);
    }
  }

  /** A batch keeps its id until it is known to be written. */
  async function writeAll(): Promise<void> {
    writing = true;
    try {
      for (let left = waiting.length; left > 0 && waiting[0]; left -= 1) {
        await writeOrSplit(waiting[0]);
        waiting.shift();
      }
    } finally {
      writing = false;
    }
  }

  /** One event that the database will never take must not hold up the others: then each is written by itself. */
  async function writeOrSplit(batch: Batch): Promise<void> {
    try {
      await writeBatch(db, batch, clock());
    } catch (error) {
      if (!isDataError(error)) throw error;
      for (const single of singles(batch)) await writeSingle(single);
    }
  }

  async function writeSingle(single: Batch): Promise<void> {
    try {
      await writeBatch(db, single, clock());
    } catch (error) {
      if (!isDataError(error)) throw error;
      log.error({ err: error, event: single.groups[0] ?? single.tools[0] }, 'usage was lost: it cannot be written');
    }
  }

  /** One after the other; each reports its own failure only. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const next = last.catch(() => {}).then(writeAll);
    last = next;
    return next;
  }

  return {
    record(event) {
      const batch = open();
      addCall(batch, event, clock().getTime());
      sendIfFull(batch);
    },
    recordTool(event) {
      const batch = open();
      batch.tools.push({ ...event, at: clock().getTime() });
      sendIfFull(batch);
    },
    flush,
    async close() {
      closed = true;
      for (let tries = 1; waiting.length > 0; tries += 1) {
        try {
          await flush();
        } catch (error) {
          if (tries >= CLOSE_TRIES) throw error;
        }
      }
    },
  };
}

const isDataError = (error: unknown): boolean => (error as { code?: string } | null)?.code?.startsWith('22') ?? false;
