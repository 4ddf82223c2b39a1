import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * V8 collects when something is asked for. What a burst left behind would stay for as long as the process is calm
 * afterwards, which may be for hours.
 */

const LOOK_MS = 5_000;
/** Until it was collected once: loading the code leaves some 30 MB. */
const FIRST_LOOK_MS = 1000;
/** Nor is anybody at it now. */
const NOW_MS = 250;
/** Part of that time that the loop was at work, at most: what is busier collects by itself. */
const CALM = 0.05;
/** More than there was after the last time is worth the tenth of a second in which everybody waits. */
const MUCH = 48 * 1024 * 1024;

/** Of the processor, by this thread alone: where others want it, too, the clock tells more about them. */
const workedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Bytes of objects and buffers, with what is garbage of them. */
const held = (): number => {
  const { total_physical_size: heap, external_memory: buffers } = getHeapStatistics();
  return heap + buffers;
};

export interface Memory {
  /** Gives back all that is garbage. */
  tidy: () => void;
  /** Does so from now on when nobody is waiting: once, and whenever much of it may be there. Call the result to stop. */
  keepTidy: () => () => void;
}

interface MemoryOptions {
  lookMs?: number;
  /** Milliseconds of the processor that this thread has had. */
  worked?: () => number;
  collect?: (how: Flavor) => void;
}

/** `last-resort` twice, and takes twice as long. */
type Flavor = 'regular' | 'last-resort';

/** V8's own, which has to be asked for. */
function collector(): (how: Flavor) => void {
  let collect: ((options: { type: 'major'; flavor: Flavor }) => void) | undefined;
  return (flavor) => {
    if (!collect) {
      setFlagsFromString('--expose-gc');
      collect = runInNewContext('gc') as NonNullable<typeof collect>;
    }
    collect({ type: 'major', flavor });
  };
}

export function createMemory(options: MemoryOptions = {}): Memory {
  const { lookMs = LOOK_MS, worked = workedMs, collect = collector() } = options;
  const firstLookMs = Math.min(FIRST_LOOK_MS, lookMs);
  const nowMs = Math.min(NOW_MS, lookMs);
  let least = Infinity;

  function tidy(): void {
    collect('last-resort');
    least = held();
  }

  return {
    tidy,
    keepTidy() {
      let before = worked();
      let isNew = true;
      let timer = setTimeout(look, firstLookMs).unref();
      const isFirst = (): boolean => least === Infinity;
      function next(): void {
        before = worked();
        timer = setTimeout(look, isFirst() ? firstLookMs : lookMs).unref();
      }
      function look(this: void): void {
        const now = worked();
        const isCalm = now - before < CALM * (isFirst() ? firstLookMs : lookMs);
        const bytes = held();
        if (isCalm && (isFirst() || bytes > least + MUCH)) {
          // Somebody may just have come.
          timer = setTimeout(() => {
            if (worked() - now < CALM * nowMs) tidy();
            next();
          }, nowMs).unref();
          return;
        }
        if (!isFirst()) least = Math.min(least, bytes);
        // What is busy from the start needs the room, too, and waits once.
        else if (isNew && !isCalm) collect('regular');
        isNew = false;
        next();
      }
      return () => clearTimeout(timer);
    },
  };
}
