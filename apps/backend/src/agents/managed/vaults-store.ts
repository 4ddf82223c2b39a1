import type { Database, Tables, UserTx } from '@troupe/db';
import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import { pageOf, type Page } from './store.ts';

export type VaultRow = Selectable<Tables['managed_vaults']>;
export type CredentialRow = Selectable<Tables['managed_credentials']>;

export const addVault = (db: Database, userId: string, row: Insertable<Tables['managed_vaults']>) =>
  db.asUser(userId, (tx) => tx.insertInto('managed_vaults').values(row).execute());

export const vault = (db: Database, userId: string, id: string): Promise<VaultRow | undefined> =>
  db.user(userId).selectFrom('managed_vaults').selectAll().where('id', '=', id).executeTakeFirst();

export const vaults = (db: Database, userId: string, page: Page): Promise<VaultRow[]> =>
  pageOf(db.user(userId).selectFrom('managed_vaults').selectAll(), page).execute();

export const changeVault = (tx: UserTx, id: string, values: Updateable<Tables['managed_vaults']>) =>
  tx.updateTable('managed_vaults').set(values).where('id', '=', id).returningAll().executeTakeFirst();

export async function removeVault(db: Database, userId: string, id: string): Promise<boolean> {
  const gone = await db.user(userId).deleteFrom('managed_vaults').where('id', '=', id).executeTakeFirstOrThrow();
  return gone.numDeletedRows > 0n;
}

export const addCredential = (db: Database, userId: string, row: Insertable<Tables['managed_credentials']>) =>
  db.asUser(userId, (tx) => tx.insertInto('managed_credentials').values(row).execute());

export const credential = (db: Database, userId: string, vaultId: string, id: string) =>
  db
    .user(userId)
    .selectFrom('managed_credentials')
    .selectAll()
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirst();

export const credentials = (db: Database, userId: string, vaultId: string, page: Page): Promise<CredentialRow[]> =>
  pageOf(db.user(userId).selectFrom('managed_credentials').selectAll().where('vault_id', '=', vaultId), page).execute();

export const changeCredential = (
  tx: UserTx,
  id: string,
  values: Updateable<Tables['managed_credentials']>,
): Promise<CredentialRow | undefined> =>
  tx.updateTable('managed_credentials').set(values).where('id', '=', id).returningAll().executeTakeFirst();

/** What is secret in an archived vault is nobody's any more. */
export const forgetIn = (tx: UserTx, vaultId: string, at: Date) =>
  tx
    .updateTable('managed_credentials')
    .set({ archived_at: at, updated_at: at, sealed: Buffer.alloc(0) })
    .where('vault_id', '=', vaultId)
    .where('archived_at', 'is', null)
    .execute();

export async function removeCredential(db: Database, userId: string, vaultId: string, id: string): Promise<boolean> {
  const gone = await db
    .user(userId)
    .deleteFrom('managed_credentials')
    .where('vault_id', '=', vaultId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return gone.numDeletedRows > 0n;
}

/** Whether a session that is not archived was begun with other vaults; who asks next waits until the transaction ends. */
export async function othersHave(tx: UserTx, agentId: string, vaultIds: readonly string[]): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`vaults:${agentId}`}, 0))`.execute(tx);
  const { rows } = await sql<{ other: boolean }>`select exists (
    select from managed_sessions where agent_id = ${agentId} and archived_at is null
      and coalesce(vault_ids, '[]') <> ${JSON.stringify(vaultIds)}::jsonb
      and (${vaultIds.length} > 0 or coalesce(vault_ids, '[]') <> '[]')) as other`.execute(tx);
  return rows[0]!.other;
}

export type Opened = Record<string, string>;

/** By the name of a server, what opens it that came out of a vault. */
export async function opened(db: Database, userId: string, agentId: string): Promise<Opened> {
  const row = await db
    .user(userId)
    .selectFrom('managed_agents')
    .select('opened')
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
  return (row?.opened as Opened | null | undefined) ?? {};
}

export const noteOpened = (db: Database, userId: string, agentId: string, now: Opened) =>
  db
    .user(userId)
    .insertInto('managed_agents')
    .values({ agent_id: agentId, user_id: userId, metadata: '{}', tools: '[]', opened: JSON.stringify(now) })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet({ opened: JSON.stringify(now) }))
    .execute();
