import { readFileSync } from 'node:fs';
import path from 'node:path';
import { processTree } from '@troupe/testing/processes/program';
import type { TestEvent } from './test-runs.ts';

/** A file of tests that hangs: nobody waits for it without an end. */

/** The same events; `end` is called when none has come for so long. */
export async function* untilSilent(
  events: AsyncIterable<TestEvent>,
  silentMs: number,
  end: () => void,
): AsyncGenerator<TestEvent> {
  let timer = setTimeout(end, silentMs);
  try {
    for await (const event of events) {
      clearTimeout(timer);
      timer = setTimeout(end, silentMs);
      yield event;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Ends the process that runs the file, and all that it has started; where the system tells who that is. */
export function endTree(file: string): void {
  for (const pid of processTree(process.pid).filter((one) => runs(one, file)))
    for (const below of processTree(pid)) end(below);
}

function runs(pid: number, file: string): boolean {
  try {
    const given = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return pid !== process.pid && given.some((one) => path.resolve(one) === path.resolve(file));
  } catch {
    return false;
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended since
  }
}
