import type { ConnectionStore } from './connection.ts';
import type { Pause } from './pause.ts';

/** Longer than any tab is open. */
export const FOREVER_MS = 2_000_000_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

interface Parts {
  connection: ConnectionStore;
  pause: Pause;
  /** Reads one stream to its end; rejects when it breaks. */
  listen: (signal: AbortSignal) => Promise<void>;
  failed: (error: unknown) => void;
}

export interface Loop {
  run: (end: AbortSignal) => Promise<void>;
  /** Lets go of the stream; another one is opened at once. */
  reopen: () => void;
  /** While it rests no stream is open. */
  rest: (isResting: boolean) => void;
}

/** Keeps one stream open: again at once when it is asked to, and after a growing while when it broke. */
export function createLoop({ connection, pause, listen, failed }: Parts): Loop {
  let current = new AbortController();
  let isResting = false;

  const broke = (error: unknown, before: string): void => {
    failed(error);
    // A stream that broke is opened again before anybody is told.
    const wasLive = before === 'live' && connection.now().state === 'live';
    connection.become(wasLive ? { state: 'opening' } : { state: 'away', since: Date.now() });
  };

  const reopen = (): void => {
    current.abort();
    pause.end();
  };

  async function run(end: AbortSignal): Promise<void> {
    let wait = FIRST_WAIT_MS;
    while (!end.aborted) {
      if (isResting) {
        await pause.for(FOREVER_MS);
        continue;
      }
      current = new AbortController();
      const { signal } = current;
      const before = connection.now().state;
      try {
        await listen(signal);
        wait = FIRST_WAIT_MS;
      } catch (error) {
        if (!signal.aborted) broke(error, before);
      }
      if (signal.aborted) continue;
      await pause.for(wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  return {
    run,
    reopen,
    rest(next) {
      isResting = next;
      reopen();
    },
  };
}
