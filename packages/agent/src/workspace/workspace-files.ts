import { constants, lstatSync, opendirSync } from 'node:fs';
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { createJail, OutsideWorkspace } from './jail.ts';

/** Reading in a workspace, through the jail and with bounds. Loaded by threads too: imports nothing heavy. */

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Of files and folders in a workspace; more than one can hold is not looked at. */
export const WORKSPACE_ENTRIES = 100_000;
/** Of folders in each other. */
const MAX_DEPTH = 100;
const READ_AT_ONCE = 512;

export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
}

interface Entry {
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
}

export interface FileEntry extends Entry {
  bytes: number;
  modifiedAt: string;
}

export interface WorkspaceFiles {
  read: (file: string, maxBytes?: number) => Promise<string>;
  readBytes: (file: string, maxBytes: number) => Promise<Buffer>;
  /** Opens a file for as long as `work` takes. */
  open: <T>(file: string, work: (handle: FileHandle) => Promise<T>) => Promise<T>;
  /** Entries of a folder with their size and time; blocks. */
  describe: (folder: string, entries: readonly Entry[]) => Promise<FileEntry[]>;
  /** Sorted, at most `most` of them. Blocks: for threads only. */
  list: (folder: string, most: number) => Promise<Entry[]>;
  /** The size of an entry of a folder; blocks. */
  sizes: (folder: string, names: readonly string[]) => Promise<number[]>;
  /** Files below a folder, paths relative to the workspace; links are not followed. At most `most`. Blocks. */
  walk: (folder: string, most: number) => AsyncGenerator<string>;
}

/** Opens what lies in the workspace, and nothing else. */
function createOpening(root: string) {
  const { within } = createJail(root);

  /** The file that a path means, links inside the workspace followed. */
  async function opened<T>(file: string, work: (handle: FileHandle) => Promise<T>, links = 8): Promise<T> {
    const result = await within(file, async ({ full }) => {
      const stat = await lstat(full);
      if (stat.isSymbolicLink()) return { link: await realpath(full) };
      // A pipe would block for ever; what it is is looked at once it is open. A socket cannot be opened at all.
      const handle = await open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'ENXIO' ? new WorkspaceError(`${file} is not a file`) : error;
      });
      try {
        if (!(await handle.stat()).isFile()) throw new WorkspaceError(`${file} is not a file`);
        return { value: await work(handle) };
      } finally {
        await handle.close();
      }
    });
    if (result.link === undefined) return result.value as T;
    const inside = path.relative(await realpath(root), result.link);
    if (links === 0 || inside.startsWith('..') || path.isAbsolute(inside)) throw new OutsideWorkspace(file);
    return opened(inside, work, links - 1);
  }

  const inFolder = <T>(folder: string, work: (here: string) => T): Promise<T> =>
    within(path.posix.join(folder, 'x'), async ({ folder: here }) => work(here));

  return { opened, inFolder };
}

export function createWorkspaceFiles(root: string): WorkspaceFiles {
  const { opened, inFolder } = createOpening(root);

  const list: WorkspaceFiles['list'] = (folder, most) =>
    inFolder(folder, (here) => {
      const entries: Entry[] = [];
      const reading = opendirSync(here, { bufferSize: READ_AT_ONCE });
      try {
        for (let entry = reading.readSync(); entry && entries.length < most; entry = reading.readSync())
          entries.push({ name: entry.name, kind: kindOf(entry) });
      } finally {
        reading.closeSync();
      }
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    });

  const readBytes: WorkspaceFiles['readBytes'] = (file, maxBytes) =>
    opened(file, async (handle) => {
      const { size } = await handle.stat();
      if (size > maxBytes) throw new WorkspaceError(`${file} is larger than ${Math.floor(maxBytes / 1024)} KB`);
      // A file that grows meanwhile is not followed.
      const bytes = Buffer.alloc(size);
      const { bytesRead } = await handle.read(bytes, 0, size, 0);
      return bytes.subarray(0, bytesRead);
    });

  return {
    list,
    readBytes,
    open: opened,
    describe: (folder, entries) =>
      inFolder(folder, (here) =>
        entries.map(({ name, kind }) => {
          const stat = lstatSync(path.join(here, name), { throwIfNoEntry: false });
          return { name, kind, bytes: stat?.size ?? 0, modifiedAt: (stat?.mtime ?? new Date(0)).toISOString() };
        }),
      ),
    sizes: (folder, names) =>
      inFolder(folder, (here) =>
        names.map((name) => lstatSync(path.join(here, name), { throwIfNoEntry: false })?.size ?? 0),
      ),
    async *walk(folder, most) {
      let [found, seen] = [0, 0];
      const waiting = [{ folder: path.posix.normalize(folder), depth: 0 }];
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        for (const { name, kind } of await list(next.folder, WORKSPACE_ENTRIES - seen)) {
          seen += 1;
          const full = path.posix.join(next.folder, name);
          if (kind === 'folder' && next.depth < MAX_DEPTH) waiting.push({ folder: full, depth: next.depth + 1 });
          if (kind !== 'file') continue;
          if (++found > most) return;
          yield full;
        }
      }
    },
    read: async (file, maxBytes = MAX_FILE_BYTES) => (await readBytes(file, maxBytes)).toString('utf8'),
  };
}

const kindOf = (entry: { isDirectory: () => boolean; isFile: () => boolean; isSymbolicLink: () => boolean }) =>
  entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : entry.isSymbolicLink() ? 'link' : 'other';
