import { setFlagsFromString } from 'node:v8';
import { StartError } from './errors.ts';

const GRACE_MS = 10_000;

export interface Running {
  close: () => Promise<void>;
}

/** Closes what was opened, newest first; one that fails does not keep the others open. */
export function closeAll(parts: readonly Running[]): Promise<void> {
  return parts
    .toReversed()
    .reduce(
      (before, part) => before.then(() => part.close()).catch((error: unknown) => console.error(error)),
      Promise.resolve(),
    );
}

export interface Life {
  /** Registers what has to be closed in the end; hands it back. */
  own: <T extends Running>(part: T) => T;
  /** Ends the program because something it cannot do without is lost. */
  fail: (error: unknown) => void;
}

/**
 * The life of a program: starts it, closes what it owns on SIGTERM, SIGHUP or Ctrl-C, and leaves with 0; with 1 when it
 * cannot start, something is lost, or it does not close in time.
 */
export async function runUntilSignal(start: (life: Life) => Promise<void>): Promise<void> {
  forgetQuickly();
  const parts: Running[] = [];
  let leaving = false;

  // A signal may come twice, from the terminal and from npm: the second must not cut the first short.
  async function leave(code: number, started: Promise<unknown>): Promise<void> {
    if (leaving) return;
    leaving = true;
    setTimeout(() => {
      console.error(`Not closed after ${GRACE_MS / 1000} s: leaving.`);
      process.exit(1);
    }, GRACE_MS).unref();
    await started.catch(() => {});
    await closeAll(parts);
    process.exit(code);
  }
  function fail(error: unknown, started: Promise<unknown>): void {
    console.error(startMessage(error));
    void leave(1, started);
  }

  const started: Promise<void> = Promise.resolve().then(() =>
    start({
      own: (part) => {
        parts.push(part);
        return part;
      },
      fail: (error) => fail(error, started),
    }),
  );
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void leave(0, started));
  try {
    await started;
  } catch (error) {
    if (!leaving) fail(error, started);
  }
}

function startMessage(error: unknown): unknown {
  if (error instanceof StartError) return error.message;
  if ((error as { code?: string }).code === 'ENOSPC') return 'The disk is full: free some space, then start again.';
  return error;
}

/**
 * V8 watches in the first seconds which objects last, and makes that kind in the old generation from then on. While a
 * service starts nearly all do, also those of a request; later each would wait there for a full collection, with all it
 * points to. That costs a busy service a tenth of its speed (ADR 22).
 */
function forgetQuickly(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
