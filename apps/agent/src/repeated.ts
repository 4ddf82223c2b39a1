import type { Log } from '@troupe/kernel';

interface Repeating {
  everyMs: number;
  log: Log;
  /** What the log says of a failure. */
  failed: string;
  /** After each turn, whatever became of it. */
  onTurn?: (() => void) | undefined;
}

/** After a failure, twice as long each time. */
const MOST_MS = 3_600_000;

export interface Repeated {
  close: () => Promise<void>;
}

/** Does something again and again, one turn after the other. */
export function repeated(
  turn: (signal: AbortSignal) => Promise<void>,
  { everyMs, log, failed, onTurn }: Repeating,
): Repeated {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let under: Promise<void> | undefined;
  let failures = 0;

  function next(): void {
    if (ending.signal.aborted) return;
    timer = setTimeout(() => void (under = go()), Math.min(MOST_MS, everyMs * 2 ** failures)).unref();
  }

  async function go(): Promise<void> {
    try {
      await turn(ending.signal);
      failures = 0;
    } catch (err) {
      failures += 1;
      if (!ending.signal.aborted) log.warn({ err }, failed);
    }
    onTurn?.();
    next();
  }

  next();
  return {
    async close() {
      ending.abort();
      clearTimeout(timer);
      await under;
    },
  };
}
