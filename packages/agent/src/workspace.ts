import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { randomHex } from '@troupe/kernel';
import { folderSize } from './folder-size.ts';
import { createJail, OutsideWorkspace } from './jail.ts';

/** The files of an agent, through the jail, with bounds on what is read and written. */

interface Entry {
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  size: number;
}

export interface Workspace {
  readonly root: string;
  readonly quotaBytes: number;
  read: (file: string, maxBytes?: number) => Promise<string>;
  write: (file: string, content: string) => Promise<void>;
  list: (folder: string) => Promise<Entry[]>;
  makeFolder: (folder: string) => Promise<void>;
  move: (from: string, to: string) => Promise<void>;
  remove: (target: string) => Promise<void>;
  /** Files below a folder, paths relative to the workspace; links are not followed. At most `limit`. */
  walk: (folder: string, limit: number) => AsyncGenerator<string>;
}

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const DEFAULT_QUOTA_BYTES = 1024 * 1024 * 1024;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
}

export function createWorkspace(root: string, quotaBytes = DEFAULT_QUOTA_BYTES): Workspace {
  const { within } = createJail(root);

  /** The file that a path means, links inside the workspace followed. */
  async function opened<T>(file: string, work: (handle: FileHandle) => Promise<T>, links = 8): Promise<T> {
    const result = await within(file, async ({ full }) => {
      const stat = await lstat(full);
      if (stat.isSymbolicLink()) return { link: await realpath(full) };
      // A pipe would block for ever; what it is is looked at once it is open.
      const handle = await open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
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

  async function list(folder: string): Promise<Entry[]> {
    return within(path.posix.join(folder, 'x'), async ({ folder: here }) => {
      const entries = await readdir(here, { withFileTypes: true });
      const found = await Promise.all(
        entries.map(async (entry): Promise<Entry> => {
          const stat = await lstat(path.join(here, entry.name)).catch(() => undefined);
          const kind = entry.isDirectory()
            ? 'folder'
            : entry.isFile()
              ? 'file'
              : entry.isSymbolicLink()
                ? 'link'
                : 'other';
          return { name: entry.name, kind, size: stat?.size ?? 0 };
        }),
      );
      return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  async function* walk(folder: string, limit: number): AsyncGenerator<string> {
    let found = 0;
    const waiting = [path.posix.normalize(folder)];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      for (const { name, kind } of await list(next)) {
        const full = path.posix.join(next, name);
        if (kind === 'folder') waiting.push(full);
        if (kind !== 'file') continue;
        if (++found > limit) return;
        yield full;
      }
    }
  }

  return {
    root,
    quotaBytes,
    list,
    walk,
    read: (file, maxBytes = MAX_FILE_BYTES) =>
      opened(file, async (handle) => {
        const { size } = await handle.stat();
        if (size > maxBytes) throw new WorkspaceError(`${file} is larger than ${Math.floor(maxBytes / 1024)} KB`);
        return handle.readFile('utf8');
      }),
    async write(file, content) {
      const bytes = Buffer.byteLength(content);
      if (bytes > MAX_FILE_BYTES)
        throw new WorkspaceError(`More than ${MAX_FILE_BYTES / 1024} KB cannot be written at once`);
      if ((await folderSize(root, quotaBytes)) + bytes > quotaBytes) {
        throw new WorkspaceError(`The workspace is full (${Math.floor(quotaBytes / 1024 / 1024)} MB)`);
      }
      await within(
        file,
        async ({ folder, name, full }) => {
          const before = await lstat(full).catch(() => undefined);
          if (name === '' || before?.isDirectory()) throw new WorkspaceError(`${file} is a folder`);
          // Written beside and moved into place: never half a file, and a link there is replaced, not followed.
          const beside = path.join(folder, `.${randomHex(8)}.part`);
          const handle = await open(
            beside,
            O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW,
            before?.isFile() ? before.mode & 0o777 : 0o644,
          );
          try {
            await handle.writeFile(content);
          } finally {
            await handle.close();
          }
          await rename(beside, full);
        },
        { create: true },
      );
    },
    makeFolder: (folder) => within(path.posix.join(folder, 'x'), async () => {}, { create: true }),
    move: (from, to) =>
      within(from, (source) => {
        if (source.name === '') throw new WorkspaceError('The workspace itself cannot be moved');
        return within(to, (target) => rename(source.full, target.full), { create: true });
      }),
    remove: (target) =>
      within(target, async ({ full, name }) => {
        if (name === '') throw new WorkspaceError('The workspace itself cannot be removed');
        await rm(full, { recursive: true });
      }),
  };
}

export async function makeWorkspace(root: string, quotaBytes?: number): Promise<Workspace> {
  await mkdir(root, { recursive: true });
  return createWorkspace(root, quotaBytes);
}
