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

/**
 * The life of a program: starts it, closes it on SIGTERM or Ctrl-C, and leaves with 0; with 1 when it cannot start or
 * does not close in time. A second signal does not wait.
 */
export async function runUntilSignal(start: () => Promise<Running>): Promise<void> {
  let asked = 0;
  let running: Running | undefined;

  async function stop(): Promise<void> {
    asked += 1;
    if (asked > 1) process.exit(1);
    setTimeout(() => {
      console.error(`Not closed after ${GRACE_MS / 1000} s: leaving.`);
      process.exit(1);
    }, GRACE_MS).unref();
    await running?.close();
    process.exit(0);
  }

  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
  try {
    running = await start();
  } catch (error) {
    console.error(startMessage(error));
    process.exit(1);
  }
}

function startMessage(error: unknown): unknown {
  if (error instanceof StartError) return error.message;
  if ((error as { code?: string }).code === 'ENOSPC') return 'The disk is full: free some space, then start again.';
  return error;
}
