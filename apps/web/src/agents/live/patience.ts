import { setTimeout as delay } from 'node:timers/promises';

/** Waits before something is tried again, no longer than until somebody says that it may be worth it. */
export interface Patience {
  /** Whatever was waited for may have come. */
  nudge: () => void;
  /** At least `least` milliseconds, however often it is nudged; ends with the signal. */
  wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function createPatience(least: number): Patience {
  let next = Promise.withResolvers<void>();
  return {
    nudge() {
      next.resolve();
      next = Promise.withResolvers();
    },
    async wait(ms, signal) {
      const { promise } = next;
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const pause = (length: number) => delay(Math.max(0, length), undefined, { signal: until }).catch(() => undefined);
      await pause(Math.min(ms, least));
      await Promise.race([promise, pause(ms - least)]);
      over.abort();
    },
  };
}
