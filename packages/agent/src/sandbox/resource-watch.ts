import { readFile, readdir } from 'node:fs/promises';

/**
 * Watches what limits of single processes cannot bound: the memory of all processes of a sandbox together and their
 * number, where the kernel does not bound them for us, and the size of the workspace. Looks often enough that a fast
 * offender is caught with little more than it is allowed.
 */

export interface Watched {
  memoryBytes: number;
  processes: number;
  /** Whether the kernel has already ended one of its processes; left out: it bounds no memory here, and we have to look. */
  isShort?: (pid: number | undefined) => boolean;
}

interface WatchOptions extends Watched {
  pid: number | undefined;
  /** Why it may not go on as far as the workspace is concerned. */
  full: () => Promise<string | undefined>;
  onExceeded: (why: string) => void;
}

const MEMORY_EVERY_MS = 100;
const DISK_EVERY_MS = 500;
const LONGEST_MS = 2_000;
const MAX_UNMEASURED = 3;
/** Bubblewrap itself, outside and inside. */
const OWN_PROCESSES = 2;
const MB = 1024 * 1024;

export function watchResources({ pid, memoryBytes, processes, isShort, full, onExceeded }: WatchOptions): () => void {
  let over = false;
  const timers = new Set<NodeJS.Timeout>();
  // The next look waits for the last one, and longer after a slow one, so that watching costs little.
  function every(ms: number, look: () => Promise<void>): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      const started = performance.now();
      void look().then(() => {
        if (!over) every(Math.max(ms, Math.min((performance.now() - started) * 10, LONGEST_MS)), look);
      });
    }, ms);
    timers.add(timer);
  }
  if (pid !== undefined) {
    every(MEMORY_EVERY_MS, async () => {
      if (isShort?.(pid)) onExceeded(tooMuchMemory(memoryBytes));
      const used = await usedBy(pid, isShort === undefined);
      if (used.bytes > memoryBytes) onExceeded(tooMuchMemory(memoryBytes));
      if (used.processes > processes + OWN_PROCESSES) onExceeded(`it started more than ${processes} processes`);
    });
  }
  let unmeasured = 0;
  every(DISK_EVERY_MS, async () => {
    try {
      const why = await full();
      unmeasured = 0;
      if (why !== undefined) onExceeded(why);
    } catch {
      // Whoever makes it too hard to measure does not go on unmeasured.
      if (!over && ++unmeasured >= MAX_UNMEASURED) onExceeded('its workspace could not be measured');
    }
  });
  return () => {
    over = true;
    for (const timer of timers) clearTimeout(timer);
  };
}

export const tooMuchMemory = (bytes: number): string => `it used more than ${bytes / MB} MB of memory`;

/** Memory, if it is wanted, and number of a process and all its descendants. */
async function usedBy(pid: number | string, weigh: boolean): Promise<{ bytes: number; processes: number }> {
  try {
    const [bytes, tasks] = await Promise.all([weigh ? weight(pid) : 0, readdir(`/proc/${pid}/task`)]);
    const children = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')));
    const below = await Promise.all(
      children.flatMap((list) => list.trim().split(' ').filter(Boolean)).map((child) => usedBy(child, weigh)),
    );
    return {
      bytes: below.reduce((sum, one) => sum + one.bytes, bytes),
      processes: below.reduce((sum, one) => sum + one.processes, 1),
    };
  } catch {
    // It ended while it was looked at.
    return { bytes: 0, processes: 0 };
  }
}

/** Its own memory and its share of what it shares with others; files that it has mapped are the system's. */
async function weight(pid: number | string): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0);
  return (kilobytes('Pss_Anon') + kilobytes('Pss_Shmem')) * 1024;
}
