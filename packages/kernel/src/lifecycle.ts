import { setFlagsFromString } from 'node:v8';
import { StartError } from './errors.ts';
import { createFaults } from './faults.ts';
import { createLog } from './log.ts';
import { createMemory } from './memory.ts';

const GRACE_MS = 10_000;
/** A process that an unknown error has been through is replaced, but not more often than this: it may be somebody's doing. */
const SHORTEST_LIFE_MS = 600_000;

const CANNOT_START = 1;
/** Tells whoever watches that it ran, and should run again. */
const BROKEN = 70;

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
  /** A stop may take so much longer: answers under way are waited for. */
  grace: (seconds: number) => void;
  /** It ends because it broke, after it ran: whoever watches it starts it again at once. */
  comesBack: () => boolean;
}

/**
 * The life of a program: starts it, closes what it owns on SIGTERM, SIGHUP or Ctrl-C, and leaves with 0; with 1 when it
 * cannot start or close, with 70 when something is lost or broken later. A fault that belongs to one run ends nothing.
 */
export async function runUntilSignal(start: (life: Life) => Promise<void>): Promise<void> {
  forgetQuickly();
  const parts: Running[] = [];
  let runs = false;
  let leaving: number | undefined;
  let graceMs = GRACE_MS;

  // A signal may come twice, from the terminal and from npm: the second must not cut the first short.
  async function leave(code: number): Promise<void> {
    if (leaving !== undefined) return;
    leaving = code;
    setTimeout(() => {
      console.error(`Not closed after ${graceMs / 1000} s: leaving.`);
      process.exit(code === 0 ? 1 : code);
    }, graceMs).unref();
    await started.catch(() => {});
    await closeAll(parts);
    process.exit(code);
  }
  function fail(error: unknown): void {
    console.error(startMessage(error));
    void leave(runs ? BROKEN : CANNOT_START);
  }

  watchFaults({ runs: () => runs, fail, replace: () => void leave(BROKEN) });
  const started: Promise<void> = Promise.resolve().then(() =>
    start({
      own: (part) => {
        parts.push(part);
        return part;
      },
      fail,
      grace: (seconds) => void (graceMs = GRACE_MS + seconds * 1000),
      comesBack: () => leaving === BROKEN,
    }),
  );
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void leave(0));
  try {
    await started;
    runs = true;
    createMemory().keepTidy();
  } catch (error) {
    if (leaving === undefined) fail(error);
  }
}

/**
 * A rejection that nobody awaited is one run's. So is an error of one connection. After any other the process goes on
 * serving, but is replaced: it hands its work over and ends, once it has lived long enough that nobody gains by it.
 */
function watchFaults(life: { runs: () => boolean; fail: (error: unknown) => void; replace: () => void }): void {
  const log = createLog({ level: 'error', service: 'process' });
  const faults = createFaults({ log });
  let planned = false;
  process.on('unhandledRejection', (reason) => void faults.seen('rejection', reason));
  process.on('uncaughtException', (error) => {
    const harmless = faults.seen('exception', error);
    if (!life.runs()) return life.fail(error);
    if (harmless || planned) return;
    planned = true;
    const inMs = Math.max(0, SHORTEST_LIFE_MS - process.uptime() * 1000);
    log.error({ inSeconds: Math.ceil(inMs / 1000) }, 'this process will hand its work over and end');
    setTimeout(life.replace, inMs).unref();
  });
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
