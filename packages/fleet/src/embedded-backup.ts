import { constants, createReadStream } from 'node:fs';
import { lstat, mkdir, open, opendir, readlink, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { pipeline as joined, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createJail, OutsideWorkspace, removeTree, WORKSPACE_ENTRIES, type Jail } from '@troupe/agent';
import type { Database } from '@troupe/db';
import { AppError, tar, untar, type TarEntry, type TarItem } from '@troupe/kernel';
import { keepRows, replaceRows, rowsBeside, writeRows } from './backup-rows.ts';
import { pack } from './pack.ts';
import type { AgentRow } from '@troupe/roster';

const WORKSPACE = 'workspace';
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

/** Files, folders and links below `folder`, none of them through a link. */
async function* entriesOf(jail: Jail, folder: string, room: Room): AsyncGenerator<TarEntry> {
  const inFolder = <T>(work: (here: string) => Promise<T>): Promise<T | undefined> =>
    jail
      .within(path.posix.join(folder, 'x'), ({ folder: here }) => work(here))
      .catch((error: unknown) => {
        if (isGone(error)) return undefined;
        throw error;
      });
  for (const name of (await inFolder((here) => namesIn(here, room))) ?? []) {
    const at = path.posix.join(folder, name);
    const stored = path.posix.join(WORKSPACE, at);
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
      yield* entriesOf(jail, at, room);
    }
  }
}

/** The agent's rows as they are at one moment, and its files. */
export async function backUp(db: Database, agent: AgentRow, workspace: string, file: string): Promise<void> {
  const beside = rowsBeside(file);
  async function* all(): AsyncGenerator<TarEntry> {
    yield* await writeRows(db, agent, beside);
    // An agent that never used a file has no folder.
    if (await lstat(workspace).catch(() => undefined))
      yield* entriesOf(createJail(workspace), '.', { entries: WORKSPACE_ENTRIES });
  }
  try {
    await pack(Readable.from(tar(all()), { objectMode: false }), file);
  } finally {
    await removeTree(beside);
  }
}

async function unpackFile(jail: Jail, at: string, { kind, mode, link, content }: TarItem): Promise<void> {
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

/** Reads the whole archive before anything of the agent is touched: files go into a folder beside, rows into another. */
async function unpack(file: string, folder: string): Promise<void> {
  for (const made of [folder, rowsBeside(folder)]) {
    await removeTree(made);
    await mkdir(made, { recursive: true, mode: 0o700 });
  }
  const jail = createJail(folder);
  // What fails is thrown by the last of them.
  const stream = joined(createReadStream(file), createGunzip(), () => {});
  for await (const item of untar(stream)) {
    const inside = path.posix.relative(WORKSPACE, path.posix.normalize(item.path));
    if (item.path.startsWith(`${WORKSPACE}/`)) await unpackFile(jail, inside, item);
    else await keepRows(item, rowsBeside(folder));
  }
}

/** The rows in one transaction, then the files by two renames. To be done again when it was cut short. */
export async function putBack(db: Database, agent: AgentRow, workspace: string, file: string): Promise<void> {
  const beside = `${workspace}.restoring`;
  const old = `${workspace}.replaced`;
  await unpack(file, beside);
  await db.asUser(agent.user_id, (tx) => replaceRows(tx, agent, rowsBeside(beside)));
  await removeTree(rowsBeside(beside));
  await removeTree(old);
  await rename(workspace, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(beside, workspace);
  await removeTree(old);
}
