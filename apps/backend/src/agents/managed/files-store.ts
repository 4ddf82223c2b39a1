import type { Database, SystemTx, Tables, UserTx } from '@troupe/db';
import { sql, type Insertable, type Selectable } from 'kysely';
import type { Page } from './store.ts';

export type FileRow = Omit<Selectable<Tables['managed_files']>, 'content' | 'user_id'>;
export type ResourceRow = Selectable<Tables['managed_resources']>;

const HEAD = ['id', 'name', 'mime', 'bytes', 'created_at', 'expires_at'] as const;

/** How much the user keeps; two at once wait for each other until the transaction ends. */
export async function bytesOf(tx: UserTx, userId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`files:${userId}`}, 0))`.execute(tx);
  const { bytes } = await tx
    .selectFrom('managed_files')
    .select(({ fn }) => fn.coalesce(fn.sum<string>('bytes'), sql<string>`0`).as('bytes'))
    .executeTakeFirstOrThrow();
  return Number(bytes);
}

export const addFile = (tx: UserTx, row: Insertable<Tables['managed_files']>) =>
  tx.insertInto('managed_files').values(row).returning(HEAD).executeTakeFirstOrThrow();

/** One whose time is over is gone, whether or not it was swept. */
const living = (db: Database, userId: string, now: Date) =>
  db
    .user(userId)
    .selectFrom('managed_files')
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));

export const file = (db: Database, userId: string, id: string, now: Date): Promise<FileRow | undefined> =>
  living(db, userId, now).select(HEAD).where('id', '=', id).executeTakeFirst();

export const content = (db: Database, userId: string, id: string, now: Date) =>
  living(db, userId, now).select('content').where('id', '=', id).executeTakeFirst();

export const files = (db: Database, userId: string, { limit, offset }: Page, now: Date): Promise<FileRow[]> =>
  living(db, userId, now)
    .select(HEAD)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();

export async function removeFile(db: Database, userId: string, id: string): Promise<boolean> {
  const gone = await db.user(userId).deleteFrom('managed_files').where('id', '=', id).executeTakeFirstOrThrow();
  return gone.numDeletedRows > 0n;
}

export const forgetExpired = (tx: SystemTx, now: Date) =>
  tx.deleteFrom('managed_files').where('expires_at', '<', now).execute();

export const addResource = (db: Database, userId: string, row: Insertable<Tables['managed_resources']>) =>
  db.asUser(userId, (tx) => tx.insertInto('managed_resources').values(row).execute());

const ofSession = (db: Database, userId: string, sessionId: string) =>
  db.user(userId).selectFrom('managed_resources').selectAll().where('session_id', '=', sessionId);

export const resource = (db: Database, userId: string, sessionId: string, id: string) =>
  ofSession(db, userId, sessionId).where('id', '=', id).executeTakeFirst();

export const resources = (db: Database, userId: string, sessionId: string, page: Pick<Page, 'limit' | 'offset'>) =>
  ofSession(db, userId, sessionId).orderBy('created_at').orderBy('id').limit(page.limit).offset(page.offset).execute();

export const removeResource = (db: Database, userId: string, id: string) =>
  db.user(userId).deleteFrom('managed_resources').where('id', '=', id).execute();
