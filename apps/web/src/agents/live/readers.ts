import type { Database } from '@troupe/db';
import { newId, type Log } from '@troupe/kernel';
import { dropOver, sayReading } from './store.ts';

/** Says in the database whose pages are open here: what changes often is told to them alone. */
export interface Readers {
  /** Resolves when changes are told from now on. Call the result when the page is gone. */
  join: (userId: string) => Promise<() => void>;
}

const SAY_MS = 30_000;
/** After the last that is heard of a process. */
const READER_MS = 90_000;

export function createReaders({ db, log }: { db: Database; log: Log }): Readers {
  const process = newId();
  const pages = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const say = async (users: readonly string[]): Promise<void> => {
    try {
      await sayReading(db.system, users, process, READER_MS);
    } catch (error) {
      // It is said again in a while; until then pages hear of what changes rarely.
      log.warn({ err: error }, 'it could not be said who reads');
    }
  };

  const sayAgain = async (): Promise<void> => {
    if (pages.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    await say([...pages.keys()]);
    await dropOver(db.system).catch((error: unknown) => log.warn({ err: error }, 'old readers could not be removed'));
  };

  return {
    async join(userId) {
      const open = pages.get(userId) ?? 0;
      pages.set(userId, open + 1);
      timer ??= setInterval(() => void sayAgain(), SAY_MS).unref();
      if (open === 0) await say([userId]);
      return () => {
        const left = (pages.get(userId) ?? 1) - 1;
        if (left === 0) pages.delete(userId);
        else pages.set(userId, left);
      };
    },
  };
}
