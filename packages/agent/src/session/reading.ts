import { setTimeout as delay } from 'node:timers/promises';
import { createFairQueue, type FairQueue } from '@troupe/kernel';

/**
 * Reading what is stored of conversations is work for everybody on the way: the database, this process, the one in front
 * of it. What is one owner's is read page by page, one page at a time, at a bounded rate.
 */

const BYTES_A_SECOND = 2 * 1024 * 1024;

/** Who asks for a page hears it when too many wait already. */
export const pages = createFairQueue({ width: 256, perKey: 1, waiting: 1_000, waitingPerKey: 30 });
/** A page of conversations tells the first words of each, which may be long ones. */
export const lists = createFairQueue({ width: 256, perKey: 2, waiting: 1_000, waitingPerKey: 100 });
/** Who reads along waits for its turn; how many there are is bounded where they come in. */
export const followers = createFairQueue({ width: 256, perKey: 1, waiting: Infinity, waitingPerKey: Infinity });

interface Read<T> {
  value: T;
  bytes: number;
}

/** Reads in the owner's turn. The answer is there at once; only what comes next waits for what this one was. */
export function readInTurn<T>(
  queue: FairQueue,
  owner: string,
  read: () => Promise<Read<T>>,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const turn = async (): Promise<void> => {
      const { value, bytes } = await read();
      resolve(value);
      await delay((bytes / BYTES_A_SECOND) * 1000, undefined, { ref: false });
    };
    queue.run(owner, turn, signal).catch(reject);
  });
}
