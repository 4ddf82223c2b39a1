import { readFile, readdir } from 'node:fs/promises';
import { folderSize } from './folder-size.ts';

/**
 * Watches what limits of single processes cannot bound: the memory of all processes of a sandbox together, their number
 * where the kernel does not count them for us, and the size of the workspace. Looks often enough that a fast offender is caught with little more than it is allowed.
 */

interface WatchOptions {
  pid: number | undefined;
  memoryBytes: number;
  processes: number;
  workspace: string;
  quotaBytes: number;
  onExceeded: (why: string) => void;
}

const MEMORY_EVERY_MS = 100;
const DISK_EVERY_MS = 500;
/** Bubblewrap itself, outside and inside. */
const OWN_PROCESSES = 2;
const PAGE_BYTES = 4096;
const MB = 1024 * 1024;

export function watchResources({
  pid,
  memoryBytes,
  processes,
  workspace,
  quotaBytes,
  onExceeded,
}: WatchOptions): () => void {
  let over = false;
  const timers = new Set<NodeJS.Timeout>();
  // The next look waits for the last one, and longer after a slow one, so that watching costs a tenth at most.
  function every(ms: number, look: () => Promise<void>): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      const started = performance.now();
      void look().then(() => {
        if (!over) every(Math.max(ms, (performance.now() - started) * 10), look);
      });
    }, ms);
    timers.add(timer);
  }
  if (pid !== undefined) {
    every(MEMORY_EVERY_MS, async () => {
      const used = await usedBy(pid);
      if (used.bytes > memoryBytes) onExceeded(`it used more than ${memoryBytes / MB} MB of memory`);
      if (used.processes > processes + OWN_PROCESSES) onExceeded(`it started more than ${processes} processes`);
    });
  }
  every(DISK_EVERY_MS, async () => {
    if ((await folderSize(workspace, quotaBytes)) > quotaBytes) {
      onExceeded(`the workspace is full (${Math.floor(quotaBytes / MB)} MB)`);
    }
  });
  return () => {
    over = true;
    for (const timer of timers) clearTimeout(timer);
  };
}

/** Resident memory and number of a process and all its descendants. */
async function usedBy(pid: number | string): Promise<{ bytes: number; processes: number }> {
  try {
    const [statm, tasks] = await Promise.all([readFile(`/proc/${pid}/statm`, 'utf8'), readdir(`/proc/${pid}/task`)]);
    const children = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')));
    const below = await Promise.all(children.flatMap((list) => list.trim().split(' ').filter(Boolean)).map(usedBy));
    // Shared pages (the third figure) are the same files mapped by everybody.
    const [, resident = 0, shared = 0] = statm.split(' ').map(Number);
    return {
      bytes: below.reduce((sum, { bytes }) => sum + bytes, (resident - shared) * PAGE_BYTES),
      processes: below.reduce((sum, one) => sum + one.processes, 1),
    };
  } catch {
    // It ended while it was looked at.
    return { bytes: 0, processes: 0 };
  }
}
