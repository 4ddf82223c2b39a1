import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';

/**
 * A control group for each command, in which the kernel holds all its processes together to their memory (shared memory
 * and its file systems in memory included), their number and their share of the processor; and a group around them all,
 * which leaves the platform room however many commands run. Where no group can be made, as for an ordinary user to whom
 * nothing was delegated, prlimit and the watcher bound a command alone.
 */

export interface GroupLimits {
  memoryBytes: number;
  processes: number;
}

export interface ControlGroups {
  /** The kernel's bounds that hold here. */
  readonly bounds: readonly Controller[];
  /** Shell commands that put the shell that runs them into a group of its own; what it executes stays in it. */
  enter: (limits?: GroupLimits) => string;
  /** Whether the kernel has ended one of its processes for want of memory. */
  isShort: (pid: number | undefined) => boolean;
  /** Ends whoever is in the group: one that bubblewrap had just started when it was killed would outlive it. */
  end: (pid: number | undefined) => void;
  /** Removes the group of a program that has ended, and whoever is left in it. */
  leave: (pid: number | undefined) => void;
}

type Controller = 'memory' | 'pids' | 'cpu';
const CONTROLLERS: readonly Controller[] = ['memory', 'pids', 'cpu'];
const PERIOD_US = 100_000;

interface Folder {
  controllers: readonly Controller[];
  folder: string;
}

type Files = Record<Controller, [file: string, value: string | number][]>;

interface Kind {
  files: (limits: GroupLimits, cores: number) => Files;
  counts: string;
}

/** Of one command. */
const ownCores = (): number => Math.max(1, availableParallelism() / 2);
/** Of all commands together: a part of the machine stays the platform's, also where it has a single core. */
const allCores = (): number => availableParallelism() * 0.75;
const COMMANDS_MEMORY = 0.5;
const COMMANDS_AT_ONCE = 32;

/** The first file of each must be there; the others are where the kernel counts swap, and can end all at once. */
const VERSION_1: Kind = {
  files: ({ memoryBytes, processes }, cores) => ({
    memory: [
      ['memory.limit_in_bytes', memoryBytes],
      ['memory.memsw.limit_in_bytes', memoryBytes],
    ],
    pids: [['pids.max', processes]],
    cpu: [
      ['cpu.cfs_period_us', PERIOD_US],
      ['cpu.cfs_quota_us', Math.round(cores * PERIOD_US)],
    ],
  }),
  counts: 'memory.oom_control',
};
const VERSION_2: Kind = {
  files: ({ memoryBytes, processes }, cores) => ({
    memory: [
      ['memory.max', memoryBytes],
      ['memory.swap.max', 0],
      ['memory.oom.group', 1],
    ],
    pids: [['pids.max', processes]],
    cpu: [['cpu.max', `${Math.round(cores * PERIOD_US)} ${PERIOD_US}`]],
  }),
  counts: 'memory.events',
};

export function createControlGroups(limits: GroupLimits, root = '/sys/fs/cgroup'): ControlGroups {
  const kind = existsSync(path.join(root, 'cgroup.controllers')) ? VERSION_2 : VERSION_1;
  const folders = kind === VERSION_2 ? unifiedFolder(root) : separateFolders(root);
  boundAll(folders, kind.files(forAll(limits), allCores()));
  const memory = folders.find(({ controllers }) => controllers.includes('memory'))?.folder;
  for (const { folder } of folders) {
    // Left by a platform that was killed. One whose process lives may be about to enter it: another platform may run.
    for (const name of readdirSync(folder))
      if (/^\d+$/.test(name) && !existsSync(`/proc/${name}`)) removeGroup(path.join(folder, name));
  }
  const each = (pid: number | undefined, work: (group: string) => void): void => {
    if (pid !== undefined) for (const { folder } of folders) work(path.join(folder, String(pid)));
  };
  const end = (pid: number | undefined): void => each(pid, endGroup);
  return {
    bounds: folders.flatMap(({ controllers }) => controllers),
    enter: (own = limits) => folders.map((one) => entering(one, kind.files(own, ownCores()))).join('\n'),
    isShort(pid) {
      if (pid === undefined || memory === undefined) return false;
      try {
        return /^oom_kill [1-9]/m.test(readFileSync(path.join(memory, String(pid), kind.counts), 'utf8'));
      } catch {
        // It has not entered yet, or is gone.
        return false;
      }
    },
    end,
    leave(pid) {
      end(pid);
      each(pid, removeGroup);
    },
  };
}

const forAll = ({ memoryBytes, processes }: GroupLimits): GroupLimits => ({
  memoryBytes: Math.max(memoryBytes, Math.floor(totalmem() * COMMANDS_MEMORY)),
  processes: processes * COMMANDS_AT_ONCE,
});

/** The same bounds around all groups; one that the kernel does not take leaves those of the single commands. */
function boundAll(folders: readonly Folder[], files: Files): void {
  for (const { controllers, folder } of folders)
    for (const controller of controllers)
      for (const [file, value] of files[controller])
        if (file !== 'memory.oom.group') tryToWrite(path.join(folder, file), String(value));
}

function endGroup(group: string): void {
  const all = path.join(group, 'cgroup.procs');
  for (const pid of readIfThere(all).split('\n')) {
    // Nought is somebody whom we cannot see, and would be ourselves.
    if (!(Number(pid) > 1)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** The group is named after the process that enters it, and that stays the same over `exec`. */
function entering({ folder, controllers }: Folder, files: Files): string {
  const group = `${quoted(folder)}/$$`;
  const bounds = controllers.flatMap((controller) =>
    files[controller].map(([file, value], index) =>
      index === 0
        ? `echo '${value}' > ${group}/${file}`
        : `if [ -e ${group}/${file} ]; then echo '${value}' > ${group}/${file}; fi`,
    ),
  );
  return [`mkdir ${group}`, ...bounds, `echo $$ > ${group}/cgroup.procs`].join('\n');
}

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Version 1 has a tree for each kind of bound: a folder beside our own group in each that is ours to write. */
function separateFolders(root: string): Folder[] {
  const groups = readIfThere('/proc/self/cgroup');
  return CONTROLLERS.flatMap((controller) => {
    const own = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, 'm').exec(groups)?.[1];
    const folder = path.join(root, controller, own ?? '/', 'troupe');
    if (!existsSync(path.join(root, controller)) || !make(folder)) return [];
    return [{ controllers: [controller], folder }];
  });
}

/** Version 2 has one tree. Root makes a group at its top, others below the group that was delegated to the platform. */
function unifiedFolder(root: string): Folder[] {
  const own = /^0::(.*)$/m.exec(readIfThere('/proc/self/cgroup'))?.[1] ?? '/';
  // A group that has groups may hold no processes: ours must be in one below the delegated one.
  const parent = process.getuid?.() === 0 ? root : path.join(root, path.dirname(own));
  const folder = path.join(parent, 'troupe');
  if (!make(folder)) return [];
  for (const controller of CONTROLLERS)
    for (const place of [parent, folder]) tryToWrite(path.join(place, 'cgroup.subtree_control'), `+${controller}`);
  const given = readIfThere(path.join(folder, 'cgroup.subtree_control')).split(/\s+/);
  const controllers = CONTROLLERS.filter((controller) => given.includes(controller));
  return controllers.length > 0 ? [{ controllers, folder }] : [];
}

/** It may go at any moment, and is then as one that never was. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Not ours to make: a container without that right, or an ordinary user. Which bounds hold is said by `bounds`. */
function make(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    // One that somebody else has made is there, and not ours to use.
    const tried = path.join(folder, `try-${process.pid}`);
    mkdirSync(tried);
    rmdirSync(tried);
    return true;
  } catch {
    return false;
  }
}

function tryToWrite(file: string, value: string): void {
  try {
    writeFileSync(file, value);
  } catch {
    // The kernel does not have it, or it is not ours to set: read afterwards where it matters.
  }
}

function removeGroup(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // Somebody is still in it, or it is gone: the next start looks again.
  }
}
