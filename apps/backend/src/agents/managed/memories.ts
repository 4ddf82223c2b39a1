import { createHash } from 'node:crypto';
import { STORE_MB, storeContent, storePath, validationMessage, type backend, type TypesOf } from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import { AppError, iso, isoOrNull, newId } from '@troupe/kernel';
import type { z } from 'zod';
import * as rows from './memories-store.ts';
import { paged, type ListQuery } from './paging.ts';
import type { ManagedDeps } from './service.ts';

/** Texts of a memory store, and what they were. Whoever writes holds the store's row: paths do not get in each other's way. */

type Memory = TypesOf<typeof backend.managed.getMemory>['reply'];
type Version = TypesOf<typeof backend.managed.getVersion>['reply'];
type View = { view?: 'basic' | 'full' | undefined };
type NewMemory = TypesOf<typeof backend.managed.createMemory>['body'];
type Change = TypesOf<typeof backend.managed.updateMemory>['body'];
type ListMemories = TypesOf<typeof backend.managed.listMemories>['query'];
type ListVersions = TypesOf<typeof backend.managed.listVersions>['query'];
type Deps = Pick<ManagedDeps, 'db' | 'clock'>;

/** Who writes, as clients read it. */
export type Actor = { type: 'session_actor'; session_id: string } | { type: 'api_actor'; api_key_id: string };

export type Memories = ReturnType<typeof createMemories>;

const VERSIONS_KEPT = 10;
const VERSION_DAYS = 30;
const DAY_MS = 86_400_000;
const STORE_BYTES = STORE_MB * 1024 * 1024;

const shaOf = (content: string): string => createHash('sha256').update(content).digest('hex');

const shownMemory = (row: rows.MemoryHead, isFull: boolean): Memory => ({
  type: 'memory',
  id: row.id,
  memory_store_id: row.store_id,
  memory_version_id: row.version_id,
  path: row.path,
  content: isFull ? (row.content ?? null) : null,
  content_sha256: row.sha256,
  content_size_bytes: row.bytes,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
});

const shownVersion = (row: rows.VersionRow, isFull: boolean): Version => ({
  type: 'memory_version',
  id: row.id,
  memory_id: row.memory_id,
  memory_store_id: row.store_id,
  operation: row.operation,
  path: row.path,
  content: isFull ? row.content : null,
  content_sha256: row.sha256,
  content_size_bytes: row.bytes,
  created_by: row.created_by as Version['created_by'],
  created_at: iso(row.created_at),
  redacted_at: isoOrNull(row.redacted_at),
  redacted_by: row.redacted_by as Version['redacted_by'],
});

const noStore = (): AppError => new AppError(404, 'Memory store not found');
const noMemory = (): AppError => new AppError(404, 'Memory not found');

const changedMeanwhile = (): AppError =>
  new AppError(409, 'The memory is another one meanwhile', { error_type: 'memory_precondition_failed_error' });

async function checkPath(tx: UserTx, storeId: string, path: string, but: string): Promise<void> {
  const other = await rows.inTheWay(tx, storeId, path, but);
  if (other)
    throw new AppError(409, `The path ${path} is taken by ${other.path}`, {
      error_type: 'memory_path_conflict_error',
      conflicting_memory_id: other.id,
      conflicting_path: other.path,
    });
}

interface Writing {
  tx: UserTx;
  userId: string;
  storeId: string;
  actor: Actor;
  at: Date;
}

/** One after the other for each store; not to one that is archived. */
function createWriting({ db, clock }: Deps) {
  return <T>(userId: string, storeId: string, actor: Actor, work: (how: Writing) => Promise<T>): Promise<T> =>
    db.asUser(userId, async (tx) => {
      const held = await rows.holdStore(tx, storeId);
      if (!held) throw noStore();
      if (held.archived_at !== null) throw new AppError(400, 'The memory store is archived');
      return work({ tx, userId, storeId, actor, at: clock() });
    });
}

type Told = { memoryId: string; operation: rows.VersionRow['operation']; path: string; content: string | null };

async function record(
  { tx, userId, storeId, actor, at }: Writing,
  { memoryId, operation, path, content }: Told,
): Promise<string> {
  const id = `memver_${newId()}`;
  const said =
    content === null
      ? { content, sha256: null, bytes: null }
      : { content, sha256: shaOf(content), bytes: Buffer.byteLength(content) };
  const row = { id, user_id: userId, store_id: storeId, memory_id: memoryId, operation, path, ...said };
  const bytes = await rows.addVersion(tx, { ...row, created_by: JSON.stringify(actor), created_at: at }, VERSIONS_KEPT);
  if (bytes > STORE_BYTES && content !== null)
    throw new AppError(
      409,
      `A memory store may have ${STORE_MB} MB with what was there before: delete memories, or make another store`,
    );
  return id;
}

async function add(how: Writing, path: string, content: string): Promise<rows.MemoryHead> {
  const { tx, userId, storeId, at } = how;
  const id = `mem_${newId()}`;
  await checkPath(tx, storeId, path, '');
  const version_id = await record(how, { memoryId: id, operation: 'created', path, content });
  const row = {
    id,
    store_id: storeId,
    path,
    content,
    sha256: shaOf(content),
    bytes: Buffer.byteLength(content),
    version_id,
    created_at: at,
    updated_at: at,
  };
  await rows.addMemory(tx, { ...row, user_id: userId });
  return row;
}

async function change(how: Writing, was: rows.MemoryRow, path: string, content: string): Promise<rows.MemoryHead> {
  const { tx, storeId, at } = how;
  if (path === was.path && content === was.content) return was;
  if (path !== was.path) await checkPath(tx, storeId, path, was.id);
  const version_id = await record(how, { memoryId: was.id, operation: 'modified', path, content });
  const next = { path, content, sha256: shaOf(content), bytes: Buffer.byteLength(content), version_id, updated_at: at };
  await rows.changeMemory(tx, was.id, next);
  return { ...was, ...next };
}

async function remove(how: Writing, { id, path }: Pick<rows.MemoryRow, 'id' | 'path'>): Promise<void> {
  await record(how, { memoryId: id, operation: 'deleted', path, content: null });
  await rows.removeMemory(how.tx, id);
}

export function createMemories(deps: Deps) {
  const writing = createWriting(deps);
  return { ...throughApi(deps, writing), ...reading(deps), ...byPath(writing, deps) };
}

type Write = ReturnType<typeof createWriting>;

function throughApi({ db, clock }: Deps, writing: Write) {
  return {
    create: (userId: string, storeId: string, { path, content }: NewMemory, { view }: View, actor: Actor) =>
      writing(userId, storeId, actor, async (how) => shownMemory(await add(how, path, content ?? ''), view === 'full')),

    update: (
      userId: string,
      { storeId, id }: { storeId: string; id: string },
      body: Change,
      { view }: View,
      actor: Actor,
    ) =>
      writing(userId, storeId, actor, async (how) => {
        const was = await rows.memory(how.tx, storeId, { id });
        if (!was) throw noMemory();
        const [path, content] = [body.path ?? was.path, body.content ?? was.content];
        const expected = body.precondition?.content_sha256;
        const isSo = path === was.path && content === was.content;
        if (expected !== undefined && expected !== was.sha256 && !isSo) throw changedMeanwhile();
        return shownMemory(await change(how, was, path, content), view === 'full');
      }),

    remove: (userId: string, storeId: string, id: string, expected: string | undefined, actor: Actor) =>
      writing(userId, storeId, actor, async (how) => {
        const was = await rows.memory(how.tx, storeId, { id });
        if (!was) throw noMemory();
        if (expected !== undefined && expected !== was.sha256) throw changedMeanwhile();
        await remove(how, was);
        return { id, type: 'memory_deleted' as const };
      }),

    async redact(userId: string, storeId: string, id: string, actor: Actor): Promise<Version> {
      const row = await db.asUser(userId, async (tx) => {
        if (!(await rows.holdStore(tx, storeId))) throw noStore();
        const found = await rows.version(tx, storeId, id);
        if (!found) return undefined;
        if ((await rows.memory(tx, storeId, { id: found.memory_id }))?.version_id === id)
          throw new AppError(400, 'It is what the memory is now: change or delete the memory first');
        return found.redacted_at === null ? rows.redact(tx, id, actor, clock()) : found;
      });
      if (!row) throw new AppError(404, 'Memory version not found');
      return shownVersion(row, true);
    },
  };
}

/** What lies in a folder: texts, and the folders in it. */
function entriesIn(found: readonly { id: string; path: string }[], prefix: string, depth: string) {
  if (depth === '0') return found;
  const entries = new Map<string, { id?: string; path: string }>();
  for (const { id, path } of found) {
    const end = path.indexOf('/', prefix.length);
    const entry = end < 0 ? { id, path } : { path: path.slice(0, end + 1) };
    entries.set(entry.path, entry);
  }
  return [...entries.values()];
}

function reading({ db, clock }: Deps) {
  const check = async (userId: string, storeId: string): Promise<void> => {
    if (!(await rows.store(db.user(userId), storeId))) throw noStore();
  };
  const every = <Q extends Omit<ListQuery, 'include_archived'>>(query: Q) => ({
    ...query,
    include_archived: 'true' as const,
  });
  return {
    async get(userId: string, storeId: string, id: string, { view }: View): Promise<Memory> {
      await check(userId, storeId);
      const row = await rows.memory(db.user(userId), storeId, { id });
      if (!row) throw noMemory();
      return shownMemory(row, view !== 'basic');
    },
    async list(userId: string, storeId: string, query: ListMemories) {
      await check(userId, storeId);
      const { view, depth, path_prefix: prefix = '/', ...page } = query;
      const isFull = view === 'full';
      return paged(
        every(page),
        async ({ limit, offset }) => {
          const found = await rows.paths(db, userId, storeId, prefix);
          const wanted: { id?: string; path: string }[] = entriesIn(found, prefix, depth).slice(offset, offset + limit);
          const ids = wanted.flatMap(({ id }) => id ?? []);
          const heads = new Map((await rows.memoriesOf(db, userId, ids, isFull)).map((head) => [head.id, head]));
          return wanted.map((one) => ({ ...one, head: one.id === undefined ? undefined : heads.get(one.id) }));
        },
        ({ id, path, head }) => {
          if (id === undefined) return { type: 'memory_prefix' as const, path };
          // Deleted at this moment.
          return head && shownMemory(head, isFull);
        },
      );
    },
    async version(userId: string, storeId: string, id: string, { view }: View): Promise<Version> {
      await check(userId, storeId);
      const row = await rows.version(db.user(userId), storeId, id);
      if (!row) throw new AppError(404, 'Memory version not found');
      return shownVersion(row, view !== 'basic');
    },
    async versions(userId: string, storeId: string, query: ListVersions) {
      await check(userId, storeId);
      const { view, 'created_at[gte]': from, 'created_at[lte]': to, limit, page, ...filter } = query;
      return paged(
        every({ limit, page }),
        (wanted) => rows.versions(db, userId, storeId, wanted, { ...filter, from, to }),
        (row) => shownVersion(row, view === 'full'),
      );
    },
    forgetOld: () => rows.forgetOld(db.system, new Date(clock().getTime() - VERSION_DAYS * DAY_MS)),
  };
}

function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new AppError(400, validationMessage(parsed.error, 'value'));
  return parsed.data;
}

/** As agents name them. */
function byPath(writing: Write, { db }: Deps) {
  return {
    read: async (userId: string, storeId: string, path: string): Promise<string | undefined> =>
      (await rows.memory(db.user(userId), storeId, { path }))?.content,
    write: (userId: string, storeId: string, given: { path: string; content: string }, actor: Actor): Promise<void> => {
      const [path, content] = [checked(storePath, given.path), checked(storeContent, given.content)];
      return writing(userId, storeId, actor, async (how) => {
        const was = await rows.memory(how.tx, storeId, { path });
        await (was ? change(how, was, path, content) : add(how, path, content));
      });
    },
    removePath: (userId: string, storeId: string, path: string, actor: Actor): Promise<boolean> =>
      writing(userId, storeId, actor, async (how) => {
        const was = await rows.memory(how.tx, storeId, { path });
        if (was) await remove(how, was);
        return was !== undefined;
      }),
  };
}
