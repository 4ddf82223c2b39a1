import type { Database, SystemTx, Tables, UserTx } from '@troupe/db';
import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import { pageOf, type Page } from './store.ts';

export type StoreRow = Selectable<Tables['managed_stores']>;
export type MemoryRow = Selectable<Tables['managed_memories']>;
export type VersionRow = Selectable<Tables['managed_memory_versions']>;
export type GivenRow = Selectable<Tables['managed_session_stores']>;

export interface Period {
  from?: string | undefined;
  to?: string | undefined;
}

export const addStore = (db: Database, userId: string, row: Insertable<Tables['managed_stores']>) =>
  db.asUser(userId, (tx) => tx.insertInto('managed_stores').values(row).execute());

export const store = (tx: UserTx, id: string): Promise<StoreRow | undefined> =>
  tx.selectFrom('managed_stores').selectAll().where('id', '=', id).executeTakeFirst();

export const stores = (db: Database, userId: string, { from, to, ...page }: Page & Period): Promise<StoreRow[]> =>
  pageOf(
    db
      .user(userId)
      .selectFrom('managed_stores')
      .selectAll()
      .$if(from !== undefined, (query) => query.where('created_at', '>=', new Date(from!)))
      .$if(to !== undefined, (query) => query.where('created_at', '<=', new Date(to!))),
    page,
  ).execute();

export const changeStore = (db: Database, userId: string, id: string, values: Updateable<Tables['managed_stores']>) =>
  db.user(userId).updateTable('managed_stores').set(values).where('id', '=', id).returningAll().executeTakeFirst();

export async function removeStore(db: Database, userId: string, id: string): Promise<boolean> {
  const gone = await db.user(userId).deleteFrom('managed_stores').where('id', '=', id).executeTakeFirstOrThrow();
  return gone.numDeletedRows > 0n;
}

/** Until the transaction ends nobody else writes to it. */
export const holdStore = (tx: UserTx, id: string): Promise<StoreRow | undefined> =>
  tx.selectFrom('managed_stores').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();

/** Another text at this path, above or below it. */
export async function inTheWay(tx: UserTx, storeId: string, path: string, but: string) {
  const { rows } = await sql<{ id: string; path: string }>`
    select id, path from managed_memories where store_id = ${storeId} and id <> ${but} and (path = ${path}
      or starts_with(${path}, path || '/') or starts_with(path, ${`${path}/`})) limit 1`.execute(tx);
  return rows[0];
}

const HEAD = [
  'id',
  'store_id',
  'path',
  'sha256',
  'bytes',
  'version_id',
  'created_at',
  'updated_at',
] as const satisfies (keyof MemoryRow)[];
export type MemoryHead = Pick<MemoryRow, (typeof HEAD)[number]> & { content?: string };

export const memory = (tx: UserTx, storeId: string, by: { id: string } | { path: string }) =>
  tx
    .selectFrom('managed_memories')
    .selectAll()
    .where('store_id', '=', storeId)
    .$if('id' in by, (query) => query.where('id', '=', (by as { id: string }).id))
    .$if('path' in by, (query) => query.where('path', '=', (by as { path: string }).path))
    .executeTakeFirst();

/** Of a store; two thousand at most. */
export async function paths(db: Database, userId: string, storeId: string, prefix: string) {
  return db
    .user(userId)
    .selectFrom('managed_memories')
    .select(['id', 'path', 'bytes'])
    .where('store_id', '=', storeId)
    .where(sql<boolean>`starts_with(path, ${prefix})`)
    .orderBy('path')
    .execute();
}

export const memoriesOf = (
  db: Database,
  userId: string,
  ids: readonly string[],
  isFull: boolean,
): Promise<MemoryHead[]> =>
  db
    .user(userId)
    .selectFrom('managed_memories')
    .select(HEAD)
    .$if(isFull, (query) => query.select('content'))
    .where('id', 'in', [...ids, ''])
    .execute();

export const addMemory = (tx: UserTx, row: Insertable<Tables['managed_memories']>) =>
  tx.insertInto('managed_memories').values(row).execute();

export const changeMemory = (tx: UserTx, id: string, values: Updateable<Tables['managed_memories']>) =>
  tx.updateTable('managed_memories').set(values).where('id', '=', id).execute();

export const removeMemory = (tx: UserTx, id: string) =>
  tx.deleteFrom('managed_memories').where('id', '=', id).execute();

/** Of one store: ten of each text that it may have, and some of what was deleted. */
const STORE_VERSIONS = 25_000;
/** Dropped with one that is added. */
const AT_ONCE = 100;

/** Adds a version and drops the oldest beyond `kept`, and of the store beyond its own; answers what the store takes by then. */
export async function addVersion(
  tx: UserTx,
  row: Insertable<Tables['managed_memory_versions']>,
  kept: number,
): Promise<number> {
  await tx.insertInto('managed_memory_versions').values(row).execute();
  const { rows } = await sql<{ bytes: number }>`
    with gone as (
      delete from managed_memory_versions where id <> ${row.id} and id in (
        (select id from managed_memory_versions where memory_id = ${row.memory_id} order by created_at desc, id desc offset ${kept})
        union all
        (select id from managed_memory_versions v where store_id = ${row.store_id}
          and not exists (select from managed_memories m where m.store_id = v.store_id and m.version_id = v.id)
          order by created_at desc, id offset ${STORE_VERSIONS} limit ${AT_ONCE}))
      returning coalesce(bytes, 0) as bytes)
    update managed_stores set updated_at = ${row.created_at},
      bytes = bytes + ${row.bytes ?? 0}::integer - (select coalesce(sum(bytes), 0)::integer from gone)
    where id = ${row.store_id} returning bytes`.execute(tx);
  return rows[0]!.bytes;
}

export const version = (tx: UserTx, storeId: string, id: string) =>
  tx
    .selectFrom('managed_memory_versions')
    .selectAll()
    .where('store_id', '=', storeId)
    .where('id', '=', id)
    .executeTakeFirst();

export interface VersionFilter extends Period {
  memory_id?: string | undefined;
  operation?: VersionRow['operation'] | undefined;
  session_id?: string | undefined;
  api_key_id?: string | undefined;
}

export const versions = (
  db: Database,
  userId: string,
  storeId: string,
  { limit, offset }: Pick<Page, 'limit' | 'offset'>,
  filter: VersionFilter,
): Promise<VersionRow[]> =>
  db
    .user(userId)
    .selectFrom('managed_memory_versions')
    .selectAll()
    .where('store_id', '=', storeId)
    .$if(filter.memory_id !== undefined, (query) => query.where('memory_id', '=', filter.memory_id!))
    .$if(filter.operation !== undefined, (query) => query.where('operation', '=', filter.operation!))
    .$if(filter.session_id !== undefined, (query) =>
      query.where(sql<boolean>`created_by ->> 'session_id' = ${filter.session_id}`),
    )
    .$if(filter.api_key_id !== undefined, (query) =>
      query.where(sql<boolean>`created_by ->> 'api_key_id' = ${filter.api_key_id}`),
    )
    .$if(filter.from !== undefined, (query) => query.where('created_at', '>=', new Date(filter.from!)))
    .$if(filter.to !== undefined, (query) => query.where('created_at', '<=', new Date(filter.to!)))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();

/** Forgets what it says, and what that took; undefined: there is none. */
export async function redact(tx: UserTx, id: string, by: object, at: Date): Promise<VersionRow | undefined> {
  await sql`update managed_stores set bytes = managed_stores.bytes - v.bytes from managed_memory_versions v
    where v.id = ${id} and v.bytes is not null and managed_stores.id = v.store_id`.execute(tx);
  return tx
    .updateTable('managed_memory_versions')
    .set({ content: null, path: null, sha256: null, bytes: null, redacted_at: at, redacted_by: JSON.stringify(by) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** What texts were so long ago; what they are stays. */
export const forgetOld = (tx: SystemTx, before: Date) =>
  sql`with gone as (
      delete from managed_memory_versions v where created_at < ${before}
        and not exists (select from managed_memories m where m.store_id = v.store_id and m.version_id = v.id)
      returning store_id, coalesce(bytes, 0) as bytes),
    freed as (select store_id, sum(bytes)::integer as bytes from gone group by store_id)
    update managed_stores s set bytes = s.bytes - freed.bytes from freed where freed.store_id = s.id`.execute(tx);

export const giveStores = (tx: UserTx, rows: readonly Insertable<Tables['managed_session_stores']>[]) =>
  tx
    .insertInto('managed_session_stores')
    .values([...rows])
    .execute();

/** In the order of their names. */
export const givenTo = (db: Database, userId: string, sessionId: string): Promise<GivenRow[]> =>
  db
    .user(userId)
    .selectFrom('managed_session_stores')
    .selectAll()
    .where('session_id', '=', sessionId)
    .orderBy('name')
    .execute();

/** Of a session of this agent, and of no other. */
export const givenToAgent = (
  db: Database,
  { userId, agentId }: { userId: string; agentId: string },
  sessionId: string,
): Promise<GivenRow[]> =>
  db
    .user(userId)
    .selectFrom('managed_session_stores')
    .innerJoin('managed_sessions', 'managed_sessions.id', 'managed_session_stores.session_id')
    .selectAll('managed_session_stores')
    .where('session_id', '=', sessionId)
    .where('agent_id', '=', agentId)
    .orderBy('name')
    .execute();
