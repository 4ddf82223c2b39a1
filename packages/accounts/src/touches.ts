import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@troupe/kernel';

/** Moves "last seen" and "last used" behind the requests' backs: at once, then whatever came up every second. */
export interface Touches {
  touch: (id: string) => void;
  close: () => Promise<void>;
}

interface TouchOptions {
  write: (ids: string[]) => Promise<void>;
  log: Log;
  everyMs?: number;
}

export function createTouches({ write, log, everyMs = 1000 }: TouchOptions): Touches {
  const pending = new Set<string>();
  const closing = new AbortController();
  let busy: Promise<void> | null = null;

  async function flush(): Promise<void> {
    const ids = [...pending];
    pending.clear();
    try {
      await write(ids);
    } catch (err) {
      log.warn({ err, count: ids.length }, 'the time of last use was not written');
    }
  }

  async function run(): Promise<void> {
    while (pending.size > 0) {
      await flush();
      // An aborted wait only ends earlier.
      await delay(everyMs, undefined, { ref: false, signal: closing.signal }).catch(() => {});
    }
    busy = null;
  }

  return {
    touch(id) {
      pending.add(id);
      busy ??= run();
    },
    async close() {
      closing.abort();
      await busy;
    },
  };
}
