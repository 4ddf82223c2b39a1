import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The kernel does not hold root to a number of processes, so where the platform runs as root a command gets a control
 * group of its own, which does. Elsewhere, and where no group can be made, prlimit and the watcher bound it.
 */

export interface ProcessLimit {
  /** The program and arguments that start `argv` inside a group of its own. */
  enter: (argv: readonly string[]) => string[];
  /** Removes the group of a program that has ended. */
  leave: (pid: number | undefined) => void;
}

/** The group is named after the process that enters it, and that stays the same over `exec`. */
const ENTER =
  'set -e; group=$1/$$; mkdir "$group"; echo "$2" > "$group/pids.max"; echo $$ > "$group/cgroup.procs"; shift 2; exec "$@"';

const NOT_LIMITED: ProcessLimit = { enter: (argv) => [...argv], leave: () => {} };

export function createProcessLimit(processes: number, root = '/sys/fs/cgroup'): ProcessLimit {
  const groups = process.getuid?.() === 0 ? makeGroups(root) : undefined;
  if (groups === undefined) return NOT_LIMITED;
  return {
    enter: (argv) => ['/bin/sh', '-c', ENTER, 'sandbox', groups, String(processes), ...argv],
    leave: (pid) => void (pid !== undefined && removeGroup(path.join(groups, String(pid)))),
  };
}

/** The folder in which groups are made; undefined: the kernel has none for us. */
function makeGroups(root: string): string | undefined {
  const own = existsSync(path.join(root, 'pids')) ? ownGroup() : undefined;
  const folder = own === undefined ? path.join(root, 'troupe') : path.join(root, 'pids', own, 'troupe');
  try {
    mkdirSync(folder, { recursive: true });
    if (own === undefined) writeFileSync(path.join(folder, 'cgroup.subtree_control'), '+pids');
    // Left by a process that was killed; those in use cannot be removed.
    for (const name of readdirSync(folder)) if (/^\d+$/.test(name)) removeGroup(path.join(folder, name));
    return folder;
  } catch {
    // A container without the right to make groups: its own limit is the bound then.
    return undefined;
  }
}

/** Version 1 of control groups: the one for processes that we are in. */
const ownGroup = (): string => /^\d+:pids:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';

function removeGroup(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // Somebody is still in it, or it is gone: the next start looks again.
  }
}
