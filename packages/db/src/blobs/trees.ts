import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { AppError, newId } from '@troupe/kernel';
import type { Database, UserTx } from '../scopes.ts';
import { fromChunk, hashOf, type Chunk } from './chunks.ts';
import type { Objects } from './s3.ts';

/** Folders as they are kept: rows that say what is there, and chunks that say what is in it. */

type BlobName = 'workspace' | 'restoring' | 'backups';

export interface BlobEntry {
  path: string;
  kind: 'file' | 'folder' | 'link';
  mode: number;
  size: number;
  link?: string;
  /** Hashes of its chunks, in their order. */
  parts: readonly string[];
}

/** As it is told to who knew an older version. */
export interface BlobNews extends Omit<BlobEntry, 'kind'> {
  kind: BlobEntry['kind'] | 'gone';
  version: number;
}

interface BlobChange {
  chunks?: readonly Chunk[];
  files?: readonly BlobEntry[];
  gone?: readonly string[];
  /** Gone with all that is below. */
  felled?: readonly string[];
}

/** Whose session it is done for: when that was taken over, nothing is changed. */
export interface BlobFence {
  sessionId: string;
  owner: string;
}

interface BlobBounds {
  bytes: number;
  entries: number;
}

type BlobStored = { status: 'stored'; before: number; version: number } | { status: 'lost' | 'missing' };

/** More than a tree may hold. */
export class TreeFull extends Error {
  override readonly name = 'TreeFull';
}

export interface BlobTree {
  /** Undefined: nothing was ever stored. */
  state: () => Promise<{ version: number; pruned: number } | undefined>;
  /** What is another than at that version, page by page, by path; of version 0: all that is there. */
  news: (since: number) => AsyncGenerator<BlobNews[]>;
  store: (change: BlobChange, options?: { fence?: BlobFence; bounds?: BlobBounds }) => Promise<BlobStored>;
  /** Keeps chunks that a change will name, soon. */
  put: (chunks: readonly Chunk[]) => Promise<void>;
  /** Of these, the ones that are not kept; the others are safe for a while. */
  lacks: (hashes: readonly string[]) => Promise<Set<string>>;
  /** What chunks say, by hash. */
  get: (hashes: readonly string[]) => Promise<Map<string, Uint8Array>>;
  remove: () => Promise<void>;
}

/** Smaller ones stay in the database, where they cost less and are there sooner. */
const OBJECT_BYTES = 32 * 1024;
const OBJECTS_AT_ONCE = 8;
const PAGE = 2_000;
const TRIES = 4;
const DEADLOCK = '40P01';
const FULL = 'BLF01';
const NO_AGENT = '23503';

const bytesOf = (hashes: readonly string[]): Buffer[] => hashes.map((hash) => Buffer.from(hash, 'hex'));
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';

/** Every folder that holds one of them. */
function foldersAbove(files: readonly BlobEntry[]): string[] {
  const above = new Set<string>();
  for (const { path } of files)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) above.add(path.slice(0, at));
  return [...above].filter((folder) => !files.some(({ path }) => path === folder));
}

async function inTurns<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const one = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, one));
}

/** The chunks of one user. */
function createChunks(scoped: UserTx, userId: string, objects: Objects | undefined) {
  /** Written down before it is written, so that nothing is left of it when this process dies. */
  async function upload(chunks: readonly Chunk[]): Promise<Map<string, string>> {
    const large = objects ? chunks.filter(({ bytes }) => bytes.length >= OBJECT_BYTES) : [];
    const names = new Map(large.map(({ hash }) => [hash, `${hash}.${newId()}`]));
    if (!objects || names.size === 0) return names;
    await sql`insert into blob_objects (object, user_id)
      select name, ${userId} from unnest(${[...names.values()]}::text[]) as n (name)`.execute(scoped);
    await inTurns(large, OBJECTS_AT_ONCE, ({ hash, bytes }) => objects.put(names.get(hash) ?? '', bytes));
    return names;
  }

  /** As the functions of the database take them. */
  async function columns(given: readonly Chunk[]) {
    const chunks = [...new Map(given.map((chunk) => [chunk.hash, chunk])).values()];
    const names = await upload(chunks);
    const kept = chunks.map(({ hash, bytes }) => (names.has(hash) ? null : Buffer.from(bytes)));
    return sql`${bytesOf(chunks.map(({ hash }) => hash))}::bytea[], ${chunks.map(({ size }) => size)}::integer[],
      ${kept}::bytea[], ${chunks.map(({ packed }) => packed)}::boolean[],
      ${chunks.map(({ hash }) => names.get(hash) ?? null)}::text[]`;
  }

  async function lacks(hashes: readonly string[]): Promise<Set<string>> {
    const { rows } = await sql<{ hash: string }>`
      with there as (
        select hash from blob_chunks where user_id = ${userId} and hash = any(${bytesOf(hashes)}::bytea[])
      ), kept as (
        update blob_chunks set loose_since = now() where user_id = ${userId}
          and hash in (select hash from there) and loose_since < now() - interval '5 minutes'
      ) select encode(hash, 'hex') as hash from there`.execute(scoped);
    const there = new Set(rows.map(({ hash }) => hash));
    return new Set(hashes.filter((hash) => !there.has(hash)));
  }

  type Row = Omit<Chunk, 'bytes'> & { bytes: Buffer | null; object: string | null };

  async function get(hashes: readonly string[]): Promise<Map<string, Uint8Array>> {
    const { rows } = await sql<Row>`select encode(hash, 'hex') as hash, size, bytes, packed, object
      from blob_chunks where user_id = ${userId} and hash = any(${bytesOf([...new Set(hashes)])}::bytea[])`.execute(
      scoped,
    );
    const found = new Map<string, Uint8Array>();
    await inTurns(rows, OBJECTS_AT_ONCE, async ({ object, bytes, ...rest }) => {
      if (object !== null && !objects) throw new Error('a file is in an object store that is not configured');
      const kept = bytes ?? (await objects!.get(object ?? ''));
      found.set(rest.hash, await fromChunk({ ...rest, bytes: kept }));
    });
    const missing = hashes.find((hash) => !found.has(hash));
    if (missing !== undefined) throw new Error(`a piece of a file is not there: ${missing}`);
    return found;
  }

  return { columns, lacks, get };
}

export interface TreeDeps {
  db: Database;
  objects?: Objects | undefined;
}

export interface TreeOwner {
  userId: string;
  agentId: string;
  name: BlobName;
}

/** What is another than at a version, page by page. */
async function* newsOf(scoped: UserTx, { agentId, name }: TreeOwner, since: number): AsyncGenerator<BlobNews[]> {
  for (let after = ''; ;) {
    const { rows } = await sql<Omit<BlobNews, 'parts' | 'link'> & { parts: string | null; link: string | null }>`
      select f.path, f.kind, f.mode, f.size::float8 as size, f.link, f.version,
        (select string_agg(encode(p.hash, 'hex'), '' order by p.number) from blob_parts p
          where p.tree_id = f.tree_id and p.path = f.path) as parts
      from blob_files f join blob_trees t on t.id = f.tree_id
      where t.agent_id = ${agentId} and t.name = ${name} and f.version > ${since} and f.path > ${after}
        and (f.kind <> 'gone' or ${since > 0})
      order by f.path limit ${PAGE}`.execute(scoped);
    if (rows.length > 0)
      yield rows.map(({ parts, link, ...rest }) => ({
        ...rest,
        ...(link !== null && { link }),
        parts: parts?.match(/.{64}/g) ?? [],
      }));
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.path ?? '';
  }
}

export function createTree({ db, objects }: TreeDeps, owner: TreeOwner): BlobTree {
  const { userId, agentId, name } = owner;
  const scoped = db.user(userId);
  const chunks = createChunks(scoped, userId, objects);

  async function store(...[change, { fence, bounds } = {}]: Parameters<BlobTree['store']>): Promise<BlobStored> {
    const { files = [], gone = [], felled = [] } = change;
    const rows = await Promise.all(
      files.map(async (file) => ({
        ...file,
        digest: file.kind === 'file' ? await digestOf(file.parts) : null,
      })),
    );
    const columns = await chunks.columns(change.chunks ?? []);
    const { rows: found } = await sql<{ value: BlobStored }>`select blob_store(
      ${agentId}, ${userId}, ${name}, ${newId()}, ${fence?.sessionId ?? null}, ${fence?.owner ?? null}, ${columns},
      ${JSON.stringify(rows)}::jsonb, ${foldersAbove(files)}::text[], ${[...gone]}::text[], ${[...felled]}::text[],
      ${bounds?.bytes ?? Number.MAX_SAFE_INTEGER}, ${bounds?.entries ?? 2 ** 31 - 1}) as value`.execute(scoped);
    return found[0]!.value;
  }

  return {
    news: (since) => newsOf(scoped, owner, since),
    lacks: chunks.lacks,
    get: chunks.get,
    async state() {
      const { rows } = await sql<{ version: number; pruned: number }>`select version, pruned from blob_trees
        where agent_id = ${agentId} and name = ${name}`.execute(scoped);
      return rows[0];
    },
    async store(...args) {
      for (let tried = 1; ; tried += 1)
        try {
          return await store(...args);
        } catch (error) {
          if (codeOf(error) === FULL) throw new TreeFull('the tree is full', { cause: error });
          if (codeOf(error) === NO_AGENT) throw new AppError(404, 'Agent not found', {}, { cause: error });
          if (codeOf(error) !== DEADLOCK || tried === TRIES) throw error;
          await delay(10 * tried * Math.random());
        }
    },
    async put(given) {
      await sql`select blob_put(${userId}, ${await chunks.columns(given)})`.execute(scoped);
    },
    async remove() {
      await sql`delete from blob_trees where agent_id = ${agentId} and name = ${name}`.execute(scoped);
    },
  };
}

/** Names what a file says, by the names of its chunks. */
export const digestOf = (parts: readonly string[]): Promise<string> => hashOf(Buffer.from(parts.join(''), 'hex'));

/**
 * What was put together under another name takes the place of the workspace; as part of the caller's transaction. Whoever
 * knew the old one begins anew.
 */
export async function replaceWorkspace(tx: UserTx, agentId: string): Promise<void> {
  const { rows } = await sql<{ version: number }>`delete from blob_trees
    where agent_id = ${agentId} and name = 'workspace' returning version`.execute(tx);
  const version = (rows[0]?.version ?? 0) + 1;
  await sql`update blob_files set version = ${version} where tree_id =
    (select id from blob_trees where agent_id = ${agentId} and name = 'restoring')`.execute(tx);
  await sql`update blob_trees set name = 'workspace', version = ${version}, pruned = ${version}
    where agent_id = ${agentId} and name = 'restoring'`.execute(tx);
}
