import type { Database, Tables, UserTx } from '@troupe/db';
import type { Insertable, Selectable, SelectQueryBuilder, Updateable } from 'kysely';

/** What clients of Managed Agents keep beside an agent, their environments and their sessions; each in its user's scope. */

export type EnvironmentRow = Selectable<Tables['managed_environments']>;
export type SessionRow = Selectable<Tables['managed_sessions']>;
export type Metadata = Record<string, string>;

export interface Beside {
  metadata: Metadata;
  tools: object[];
  archived_at: Date | null;
}

export interface Page {
  limit: number;
  offset: number;
  archived: boolean;
}

type Archived =
  | 'managed_environments'
  | 'managed_sessions'
  | 'managed_vaults'
  | 'managed_credentials'
  | 'managed_stores';
type Rows<T extends Archived> = SelectQueryBuilder<Tables, T, Selectable<Tables[T]>>;

/** The newest first, and what is archived only where that is asked for. */
export function pageOf<T extends Archived>(rows: Rows<T>, { limit, offset, archived }: Page) {
  // what is asked here every one of these tables has
  const query = rows as unknown as Rows<'managed_vaults'>;
  const wanted = archived ? query : query.where('archived_at', 'is', null);
  return wanted.orderBy('created_at', 'desc').orderBy('id').limit(limit).offset(offset) as unknown as Rows<T>;
}

export async function beside(db: Database, userId: string, agentId: string): Promise<Beside> {
  const row = await db
    .user(userId)
    .selectFrom('managed_agents')
    .select(['metadata', 'tools', 'archived_at'])
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
  return (row as Beside | undefined) ?? { metadata: {}, tools: [], archived_at: null };
}

export async function putBeside(db: Database, userId: string, agentId: string, values: Beside): Promise<void> {
  const row = {
    metadata: JSON.stringify(values.metadata),
    tools: JSON.stringify(values.tools),
    archived_at: values.archived_at,
  };
  await db
    .user(userId)
    .insertInto('managed_agents')
    .values({ agent_id: agentId, user_id: userId, ...row })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(row))
    .execute();
}

type Kept = 'managed_environments' | 'managed_sessions';

export async function add<T extends Kept>(db: Database, userId: string, table: T, row: Insertable<Tables[T]>) {
  await db.asUser(userId, (tx) =>
    tx
      .insertInto(table)
      .values(row as never)
      .execute(),
  );
}

export const addSession = (tx: UserTx, row: Insertable<Tables['managed_sessions']>) =>
  tx.insertInto('managed_sessions').values(row).execute();

export const environment = (db: Database, userId: string, id: string): Promise<EnvironmentRow | undefined> =>
  db.user(userId).selectFrom('managed_environments').selectAll().where('id', '=', id).executeTakeFirst();

export const session = (db: Database, userId: string, id: string): Promise<SessionRow | undefined> =>
  db.user(userId).selectFrom('managed_sessions').selectAll().where('id', '=', id).executeTakeFirst();

export const environments = (db: Database, userId: string, page: Page): Promise<EnvironmentRow[]> =>
  pageOf(db.user(userId).selectFrom('managed_environments').selectAll(), page).execute();

export const sessions = (
  db: Database,
  userId: string,
  page: Page & { agentId: string | undefined; deploymentId: string | undefined },
): Promise<SessionRow[]> =>
  pageOf(db.user(userId).selectFrom('managed_sessions').selectAll(), page)
    .$if(page.agentId !== undefined, (query) => query.where('agent_id', '=', page.agentId!))
    .$if(page.deploymentId !== undefined, (query) => query.where('deployment_id', '=', page.deploymentId!))
    .execute();

export const changeEnvironment = (
  db: Database,
  userId: string,
  id: string,
  values: Updateable<Tables['managed_environments']>,
): Promise<EnvironmentRow | undefined> =>
  db
    .user(userId)
    .updateTable('managed_environments')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();

export const changeSession = (
  db: Database,
  userId: string,
  id: string,
  values: Updateable<Tables['managed_sessions']>,
): Promise<SessionRow | undefined> =>
  db.user(userId).updateTable('managed_sessions').set(values).where('id', '=', id).returningAll().executeTakeFirst();

export async function remove(db: Database, userId: string, table: Kept, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.user(userId).deleteFrom(table).where('id', '=', id).executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
