import { CallError, gateway, type backend, type Client, type TypesOf } from '@troupe/contract';
import { AppError, iso, newId, type RequestInfo } from '@troupe/kernel';
import type { ManagedFiles } from './files.ts';
import * as store from './files-store.ts';
import { paged, type ListQuery } from './paging.ts';
import { toldBy } from './reaching.ts';
import type { ManagedDeps } from './service.ts';
import type { MemoryStores } from './stores.ts';

/** Files of sessions. An agent has one workspace for all of its sessions: each file gets a name there that is free. */

type Given = TypesOf<typeof backend.managed.addResource>['body'];
/** What a session begins with. */
type First = NonNullable<TypesOf<typeof backend.managed.createSession>['body']['resources']>[number];
export type Resources = ReturnType<typeof createResources>;

export const storesIn = (given: readonly First[]) => given.flatMap((one) => (one.type === 'memory_store' ? [one] : []));

/** Where the files go. */
export interface Into {
  userId: string;
  sessionId: string;
  agentId: string;
  client: Client;
}

const TRANSFER_MS = 5 * 60_000;
/** Of one session, as its table has it. */
const MOST = 100;

const shown = (row: store.ResourceRow) => ({
  type: 'file' as const,
  id: row.id,
  file_id: row.file_id,
  mount_path: row.path,
  created_at: iso(row.created_at),
  updated_at: iso(row.created_at),
});

interface ResourceDeps extends Pick<ManagedDeps, 'db' | 'clock'> {
  files: ManagedFiles;
  stores: MemoryStores;
}

export function createResources(deps: ResourceDeps) {
  const reading = looking(deps);
  return { ...reading, ...putting(deps, reading.got) };
}

function putting({ db, clock, files, stores }: ResourceDeps, got: Got) {
  const takeOut = ({ client, agentId }: Pick<Into, 'client' | 'agentId'>, path: string) =>
    client.call(gateway.files.remove, { params: { agentId }, query: { path } });
  return {
    /** Whether all of it is there, before anything is made. */
    async check(userId: string, given: readonly First[]): Promise<void> {
      for (const one of given) if (one.type === 'file') await files.got(userId, one.file_id);
      await stores.check(userId, storesIn(given));
    },
    async add(into: Into, { file_id: fileId, mount_path: mount }: Given, request: Pick<RequestInfo, 'holds'>) {
      const { userId, sessionId, agentId, client } = into;
      const { name, content } = await files.read(userId, fileId, request);
      const path = (mount ?? `uploads/${name}`).replace(/^\/+/, '') || name;
      // The same bytes: what the database gives is never part of a shared buffer that somebody writes to.
      const bytes = new Uint8Array(content);
      const put = { params: { agentId }, query: { path, fresh: 'true' as const }, bytes, timeout: TRANSFER_MS };
      const { path: stored } = await client.call(gateway.files.put, put).catch(toldBy);
      const id = `sesrsc_${newId()}`;
      const row = {
        id,
        user_id: userId,
        session_id: sessionId,
        file_id: fileId,
        path: stored,
        created_at: clock(),
      };
      try {
        await store.addResource(db, userId, row);
      } catch (error) {
        await takeOut(into, stored).catch(() => undefined);
        throw error;
      }
      return shown(row);
    },
    async remove(into: Into, id: string) {
      const { path } = await got(into.userId, into.sessionId, id);
      await takeOut(into, path).catch((error: unknown) => {
        // The agent, or its owner, has taken it away before.
        if (!(error instanceof CallError && error.status === 404)) toldBy(error);
      });
      await store.removeResource(db, into.userId, id);
      return { id, type: 'session_resource_deleted' as const };
    },
  };
}

type Got = (userId: string, sessionId: string, id: string) => Promise<store.ResourceRow>;

function looking({ db, stores }: Pick<ResourceDeps, 'db' | 'stores'>) {
  const got: Got = async (userId, sessionId, id) => {
    const row = await store.resource(db, userId, sessionId, id);
    if (!row) throw new AppError(404, 'Resource not found');
    return row;
  };
  /** Memory stores come first: a session has them from its beginning. */
  const all = async (userId: string, sessionId: string) => [
    ...(await stores.resources(userId, sessionId)),
    ...(await store.resources(db, userId, sessionId, { limit: MOST, offset: 0 })).map(shown),
  ];
  return {
    got,
    all,
    list: (userId: string, sessionId: string, query: Omit<ListQuery, 'include_archived'>) =>
      paged(
        { ...query, include_archived: 'true' },
        async ({ limit, offset }) => (await all(userId, sessionId)).slice(offset, offset + limit),
        (one) => one,
      ),
    get: async (userId: string, sessionId: string, id: string) => shown(await got(userId, sessionId, id)),
    async update(userId: string, sessionId: string, id: string): Promise<never> {
      await got(userId, sessionId, id);
      throw new AppError(400, 'authorization_token: only repositories have one, and they are not taken here');
    },
  };
}
