import { constants } from 'node:fs';
import { lstat, open, opendir, readlink, symlink } from 'node:fs/promises';
import path from 'node:path';
import { AppError, type TarEntry, type TarItem } from '@troupe/kernel';
import { OutsideWorkspace, type Jail } from './jail.ts';

/** Files into an archive and out of it, while commands that wish us ill may change them. */

const NAMES_AT_ONCE = 256;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** What vanished, or was swapped for a link to the outside while a command ran, is left out. */
const isGone = (error: unknown): boolean =>
  error instanceof OutsideWorkspace || ['ENOENT', 'ELOOP', 'ENOTDIR'].includes((error as { code?: string }).code ?? '');

/** What is left of the files and folders that a backup may hold. */
interface Room {
  entries: number;
}

/** The names in a folder, read piece by piece: there may be more than the loop or the memory bear. */
async function namesIn(folder: string, room: Room): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder, { bufferSize: NAMES_AT_ONCE })) {
    room.entries -= 1;
    if (room.entries < 0) throw new AppError(409, 'The agent has too many files and folders to back up');
    names.push(name);
  }
  return names;
}

/** Files, folders and links below `folder`, none of them through a link. Their names in the archive begin with `under`. */
export async function* archiveOf(jail: Jail, folder: string, under: string, room: Room): AsyncGenerator<TarEntry> {
  const inFolder = <T>(work: (here: string) => Promise<T>): Promise<T | undefined> =>
    jail
      .within(path.posix.join(folder, 'x'), ({ folder: here }) => work(here))
      .catch((error: unknown) => {
        if (isGone(error)) return undefined;
        throw error;
      });
  for (const name of (await inFolder((here) => namesIn(here, room))) ?? []) {
    const at = path.posix.join(folder, name);
    const stored = path.posix.join(under, at);
    const found = await inFolder(async (here) => {
      const full = path.join(here, name);
      const stat = await lstat(full);
      if (stat.isDirectory()) return { mode: stat.mode & 0o777 };
      if (stat.isSymbolicLink()) return { mode: 0o777, link: await readlink(full) };
      if (!stat.isFile()) return undefined;
      return { mode: stat.mode & 0o777, handle: await open(full, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) };
    });
    if (!found) continue;
    const { mode, link, handle } = found as { mode: number; link?: string; handle?: Awaited<ReturnType<typeof open>> };
    if (handle) {
      try {
        const { size } = await handle.stat();
        yield { path: stored, mode, file: { size, read: () => handle.createReadStream({ autoClose: false }) } };
      } finally {
        await handle.close();
      }
    } else if (link !== undefined) yield { path: stored, mode, link };
    else {
      yield { path: `${stored}/`, mode };
      yield* archiveOf(jail, at, under, room);
    }
  }
}

/** Makes what an archive holds, at a place where nothing is yet. */
export async function unpackItem(jail: Jail, at: string, { kind, mode, link, content }: TarItem): Promise<void> {
  if (kind === 'folder') {
    await jail.within(path.posix.join(at, 'x'), async () => {}, { create: true });
    return jail.within(at, async ({ full }) => {
      await using handle = await open(full, O_RDONLY | O_NOFOLLOW);
      await handle.chmod(mode | 0o700);
    });
  }
  await jail.within(
    at,
    async ({ full }) => {
      if (kind === 'link') return symlink(link, full);
      const handle = await open(full, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode);
      try {
        for await (const piece of content) await handle.write(piece);
      } finally {
        await handle.close();
      }
    },
    { create: true },
  );
}
