import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { removeTree, takePieces } from '@troupe/agent';
import type { Blobs, BlobNews, BlobTree } from '@troupe/db';
import { AppError, newId } from '@troupe/kernel';

/** Where the archives of backups stand: in a folder of this machine, or in the blob store. */
export interface Shelf {
  /** Takes the archive that `write` puts into a file. */
  put: (backup: Filed, write: (file: string) => Promise<void>) => Promise<{ size: number; sha256: string }>;
  /** Where it is, as people are told. */
  nameOf: (backup: Filed) => string;
  /** Throws 404 when it is not there. */
  read: (backup: Filed) => Promise<{ size: number; stream: AsyncIterable<Uint8Array> }>;
  /** The archive as a file of this machine, for as long as `work` takes. */
  use: <T>(backup: Filed, work: (file: string) => Promise<T>) => Promise<T>;
  remove: (backup: Filed) => Promise<void>;
  /** All that are not among `known`. */
  sweep: (agent: Filing, known: ReadonlySet<string>) => Promise<void>;
  removeAll: (agentId: string) => Promise<void>;
}

interface Filing {
  agent_id: string;
  user_id?: string;
}
interface Filed extends Filing {
  id: string;
}

const ENDING = '.tar.gz';
const PARTIAL = '.partial';

export async function digest(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(source, hash);
  return hash.digest('hex');
}

const missing = (cause?: unknown): AppError => new AppError(404, 'Backup not found', {}, { cause });

export function folderShelf(dataDir: string): Shelf {
  const folderOf = (agentId: string): string => path.join(dataDir, 'backups', agentId);
  const nameOf = ({ agent_id, id }: Filed): string => path.join(folderOf(agent_id), id + ENDING);
  return {
    nameOf,
    async put(backup, write) {
      const file = nameOf(backup);
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      try {
        await write(file + PARTIAL);
        const { size } = await stat(file + PARTIAL);
        const sha256 = await digest(createReadStream(file + PARTIAL));
        await rename(file + PARTIAL, file);
        return { size, sha256 };
      } finally {
        await rm(file + PARTIAL, { force: true });
      }
    },
    async read(backup) {
      const file = await open(nameOf(backup)).catch((cause: unknown) => {
        throw missing(cause);
      });
      const { size } = await file.stat();
      return { size, stream: file.createReadStream() };
    },
    use: (backup, work) => work(nameOf(backup)),
    remove: (backup) => rm(nameOf(backup), { force: true }),
    async sweep({ agent_id: agentId }, known) {
      for (const name of await readdir(folderOf(agentId)).catch(() => []))
        if (/\.tar\.gz(?:\.partial(?:\.rows)?)?$/.test(name) && !known.has(name.replace(/\.tar\.gz$/, '')))
          await removeTree(path.join(folderOf(agentId), name));
    },
    removeAll: (agentId) => rm(folderOf(agentId), { recursive: true, force: true }),
  };
}

const fileOf = (id: string): string => id + ENDING;

/** Undefined: it is not there. */
async function find(tree: BlobTree, { id }: Filed): Promise<BlobNews | undefined> {
  for await (const page of tree.news(0)) {
    const found = page.find(({ path: at }) => at === fileOf(id));
    if (found) return found;
  }
  return undefined;
}

/** A file that is there as long as it is worked with. */
async function aside<T>(dataDir: string, id: string, work: (file: string) => Promise<T>): Promise<T> {
  const folder = path.join(dataDir, 'copies');
  const file = path.join(folder, `${id}-${newId()}${ENDING}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await work(file);
  } finally {
    await rm(file, { force: true });
  }
}

/** A file of each backup in a tree of its agent, which goes with the agent's rows. Those of earlier days stay in the folder. */
export function blobShelf(blobs: Blobs, dataDir: string): Shelf {
  const before = folderShelf(dataDir);
  const treeOf = ({ agent_id: agentId, user_id: userId }: Filing) => {
    if (userId === undefined) throw new Error('a backup of nobody');
    return blobs.tree({ agentId, userId, name: 'backups' });
  };

  const read: Shelf['read'] = async (backup) => {
    const found = await find(treeOf(backup), backup);
    if (!found) return before.read(backup);
    const tree = treeOf(backup);
    async function* stream(): AsyncGenerator<Uint8Array> {
      for (const hash of found?.parts ?? []) yield (await tree.get([hash])).get(hash)!;
    }
    return { size: found.size, stream: stream() };
  };

  return {
    nameOf: before.nameOf,
    read,
    put: (backup, write) =>
      aside(dataDir, backup.id, async (file) => {
        await write(file);
        const sha256 = await digest(createReadStream(file));
        await using handle = await open(file);
        const tree = treeOf(backup);
        const { parts, size } = await takePieces(tree, handle, (await handle.stat()).size);
        const entry = { path: fileOf(backup.id), kind: 'file' as const, mode: 0o600, size, parts };
        const { status } = await tree.store({ files: [entry] });
        if (status !== 'stored') throw new Error('a backup could not be stored');
        return { size, sha256 };
      }),
    use: (backup, work) =>
      aside(dataDir, backup.id, async (file) => {
        const { stream } = await read(backup);
        await using handle = await open(file, 'wx', 0o600);
        for await (const piece of stream) await handle.write(piece);
        return work(file);
      }),
    async remove(backup) {
      await treeOf(backup).store({ gone: [fileOf(backup.id)] });
      await before.remove(backup);
    },
    async sweep(agent, known) {
      if (agent.user_id === undefined) return;
      const tree = treeOf(agent);
      if (!(await tree.state())) return;
      for await (const page of tree.news(0)) {
        const gone = page.map(({ path: at }) => at).filter((at) => !known.has(at.slice(0, -ENDING.length)));
        if (gone.length > 0) await tree.store({ gone });
      }
    },
    removeAll: before.removeAll,
  };
}
