import { readFileSync } from 'node:fs';
import os from 'node:os';

/** What the processors of this machine are doing, and for whom. */

/** Tells how many of our cores nobody used since it was last asked. Everybody on the machine counts. */
export function watchCores(cores = os.availableParallelism(), busyMs = busyOfAll, now = () => performance.now()) {
  let before = { at: now(), busy: busyMs() };
  return (): number => {
    const after = { at: now(), busy: busyMs() };
    const used = (after.busy - before.busy) / Math.max(1, after.at - before.at);
    before = after;
    return Math.max(0, cores - used);
  };
}

/** Tells how many seconds all processors have worked since, for whomever. */
export function watchWork(busyMs = busyOfAll): () => number {
  const before = busyMs();
  return () => (busyMs() - before) / 1000;
}

const busyOfAll = (): number =>
  os.cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);

/** Of a second, in which Linux counts for everybody. */
const TICKS = 100;

/** Seconds of processor time of all processes that we have started and that have ended, and of theirs; where it is told. */
export function secondsOfChildren(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // the name may hold anything; behind it the user's and the system's time of those waited for are the 14th and 15th
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15);
    return (Number(user) + Number(system)) / TICKS;
  } catch {
    return undefined;
  }
}
