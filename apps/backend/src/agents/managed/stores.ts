import type { StoreSource } from '@troupe/agent';
import type { backend, TypesOf } from '@troupe/contract';
import { isOrphan, type UserTx } from '@troupe/db';
import { AppError, iso, isoOrNull, newId } from '@troupe/kernel';
import { visibleTo } from '../../context.ts';
import { createMemories, type Memories } from './memories.ts';
import * as rows from './memories-store.ts';
import { changed, paged, type ListQuery } from './paging.ts';
import type { ManagedDeps } from './service.ts';
import type { Metadata } from './store.ts';

/** Memory stores, and which of them a session has: its agent reads and writes them by tools of their own. */

type NewStore = TypesOf<typeof backend.managed.createStore>['body'];
type StoreChange = TypesOf<typeof backend.managed.updateStore>['body'];
type ListStores = TypesOf<typeof backend.managed.listStores>['query'];
type Used = TypesOf<typeof backend.managed.useStore>;
type Deps = Pick<ManagedDeps, 'db' | 'clock' | 'roster'>;

/** A store that a session is to have. */
interface GivenStore {
  memory_store_id: string;
  access?: 'read_write' | 'read_only' | null | undefined;
  instructions?: string | null | undefined;
}

export interface MemoryStores extends ReturnType<typeof keeping>, ReturnType<typeof giving> {
  memories: Memories;
  /** What the agent's tools reach. */
  source: (whose: { userId: string; agentId: string }) => StoreSource;
  /** The same for one that runs elsewhere. */
  use: (agentId: unknown, userId: string | undefined, asked: Used['body']) => Promise<Used['reply']>;
}

const shown = (row: rows.StoreRow) => ({
  type: 'memory_store' as const,
  id: row.id,
  name: row.name,
  description: row.description,
  metadata: row.metadata as Metadata,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  archived_at: isoOrNull(row.archived_at),
});

export function createMemoryStores(deps: Deps): MemoryStores {
  const memories = createMemories(deps);
  const source = createSource(deps, memories);
  return { memories, ...keeping(deps), ...giving(deps), source, use: createUse(deps, source) };
}

const got = (row: rows.StoreRow | undefined): rows.StoreRow => {
  if (!row) throw new AppError(404, 'Memory store not found');
  return row;
};

function keeping({ db, clock }: Deps) {
  return {
    async create(userId: string, { name, description, metadata }: NewStore) {
      const at = clock();
      const row = {
        id: `memstore_${newId()}`,
        user_id: userId,
        name,
        description: description ?? '',
        created_at: at,
        updated_at: at,
      };
      await rows.addStore(db, userId, { ...row, metadata: JSON.stringify(metadata ?? {}) }).catch((cause: unknown) => {
        throw isOrphan(cause) ? new AppError(404, 'User not found', {}, { cause }) : cause;
      });
      return shown({ ...row, metadata: metadata ?? {}, bytes: 0, archived_at: null });
    },
    get: async (userId: string, id: string) => shown(got(await rows.store(db.user(userId), id))),
    async update(userId: string, id: string, { name, description, metadata }: StoreChange) {
      const was = got(await rows.store(db.user(userId), id));
      const row = await rows.changeStore(db, userId, id, {
        ...(name !== undefined && name !== null && { name }),
        ...(description !== undefined && { description: description ?? '' }),
        metadata: JSON.stringify(changed(was.metadata as Metadata, metadata)),
        updated_at: clock(),
      });
      return shown(got(row));
    },
    list: (userId: string, { 'created_at[gte]': from, 'created_at[lte]': to, ...query }: ListStores & ListQuery) =>
      paged(query, (page) => rows.stores(db, userId, { ...page, from, to }), shown),
    async archive(userId: string, id: string) {
      const was = got(await rows.store(db.user(userId), id));
      const at = clock();
      const row = await rows.changeStore(db, userId, id, { archived_at: was.archived_at ?? at, updated_at: at });
      return shown(got(row));
    },
    async remove(userId: string, id: string) {
      if (!(await rows.removeStore(db, userId, id))) throw new AppError(404, 'Memory store not found');
      return { id, type: 'memory_store_deleted' as const };
    },
  };
}

/** Two stores may be called alike; an agent names them. */
function namesFor(stores: readonly { name: string }[]): string[] {
  const taken = new Set<string>();
  return stores.map(({ name }) => {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name} ${number}`;
    taken.add(free);
    return free;
  });
}

const resourceOf = (row: rows.GivenRow) => ({
  type: 'memory_store' as const,
  memory_store_id: row.store_id,
  name: row.name,
  description: row.description,
  instructions: row.instructions === '' ? null : row.instructions,
  access: row.access,
  mount_path: null,
});

const HOW =
  'You have memory stores: files of text that are kept beyond this conversation. Use them with list_memory_files, read_memory_file, write_memory_file and delete_memory_file, by these names:';

function giving({ db, clock }: Deps) {
  return {
    /** Whether all of them are there and may be used, before anything is made. */
    async check(userId: string, given: readonly GivenStore[]): Promise<void> {
      for (const { memory_store_id: id } of given)
        if (got(await rows.store(db.user(userId), id)).archived_at !== null)
          throw new AppError(400, 'The memory store is archived');
      if (new Set(given.map(({ memory_store_id: id }) => id)).size < given.length)
        throw new AppError(400, 'resources must name a memory store once');
    },
    async give(tx: UserTx, userId: string, sessionId: string, given: readonly GivenStore[]): Promise<void> {
      if (given.length === 0) return;
      const found: rows.StoreRow[] = [];
      for (const one of given) found.push(got(await rows.store(tx, one.memory_store_id)));
      const names = namesFor(found);
      const at = clock();
      await rows.giveStores(
        tx,
        given.map(({ access, instructions }, index) => ({
          session_id: sessionId,
          store_id: found[index]!.id,
          user_id: userId,
          name: names[index]!,
          description: found[index]!.description,
          instructions: instructions ?? '',
          access: access ?? 'read_write',
          created_at: at,
        })),
      );
    },
    resources: async (userId: string, sessionId: string) => (await rows.givenTo(db, userId, sessionId)).map(resourceOf),
    /** What the agent is told of them; undefined: there are none. */
    async says(userId: string, sessionId: string): Promise<string | undefined> {
      const given = await rows.givenTo(db, userId, sessionId);
      if (given.length === 0) return undefined;
      const lines = given.map(({ name, access, description, instructions }) => {
        const right = access === 'read_only' ? 'to read only' : 'to read and write';
        return [`- ${JSON.stringify(name)}, ${right}.`, description, instructions].filter(Boolean).join(' ');
      });
      return [HOW, ...lines].join('\n');
    },
  };
}

function createSource({ db }: Deps, memories: Memories): MemoryStores['source'] {
  return (whose) => {
    const { userId } = whose;
    const given = (session: string) => rows.givenToAgent(db, whose, session);
    async function one(session: string, name: string, isWritten = false): Promise<rows.GivenRow> {
      const all = await given(session);
      const found = all.find((row) => row.name === name);
      const names = all.map((row) => JSON.stringify(row.name)).join(', ');
      if (!found) throw new AppError(404, `There is no store ${JSON.stringify(name)}. Stores: ${names || 'none'}.`);
      if (isWritten && found.access === 'read_only')
        throw new AppError(403, `The store ${JSON.stringify(name)} is to be read only.`);
      return found;
    }
    const actor = (session: string) => ({ type: 'session_actor' as const, session_id: session });
    return {
      async list(session, name) {
        const stores = name === undefined ? await given(session) : [await one(session, name)];
        if (stores.length === 0) throw new AppError(404, 'This session has no memory stores');
        const files = [];
        for (const { store_id: id, name: store } of stores)
          for (const { path, bytes } of await rows.paths(db, userId, id, '/')) files.push({ store, path, bytes });
        return files;
      },
      read: async (session, name, path) => memories.read(userId, (await one(session, name)).store_id, path),
      async write(session, name, path, content) {
        const { store_id: id } = await one(session, name, true);
        await memories.write(userId, id, { path, content }, actor(session));
      },
      async remove(session, name, path) {
        const { store_id: id } = await one(session, name, true);
        return memories.removePath(userId, id, path, actor(session));
      },
    };
  };
}

function createUse({ roster }: Deps, source: MemoryStores['source']): MemoryStores['use'] {
  return async (agentId, userId, asked) => {
    const agent = typeof agentId === 'string' ? await visibleTo(roster, userId).find(agentId) : undefined;
    if (!agent) throw new AppError(404, 'Agent not found');
    const files = source({ userId: agent.user_id, agentId: agent.id });
    const { session } = asked;
    if (asked.op === 'list') return { files: await files.list(session, asked.store) };
    const { store, path } = asked;
    if (asked.op === 'write') {
      await files.write(session, store, path, asked.content);
      return {};
    }
    if (asked.op === 'remove') return { removed: await files.remove(session, store, path) };
    const content = await files.read(session, store, path);
    return content === undefined ? {} : { content };
  };
}
