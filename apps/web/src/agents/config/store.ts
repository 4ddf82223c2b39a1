import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

export type ConfigValue = Record<string, unknown>;

export async function findConfig(tx: UserTx): Promise<ConfigValue | null> {
  const row = await tx.selectFrom('agent_configs').select('config').executeTakeFirst();
  return (row?.config as ConfigValue | undefined) ?? null;
}

/** The same, held until the transaction ends: two who save at once come one after the other. */
export async function lockConfig(tx: UserTx, owner: string): Promise<ConfigValue | null> {
  await sql`select pg_advisory_xact_lock(hashtext('agent_configs'), hashtext(${owner}))`.execute(tx);
  return findConfig(tx);
}

export async function putConfig(tx: UserTx, owner: string, config: ConfigValue, at: Date): Promise<void> {
  await tx
    .insertInto('agent_configs')
    .values({ user_id: owner, config: JSON.stringify(config), updated_at: at })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet({ config: JSON.stringify(config), updated_at: at }),
    )
    .execute();
}

export async function addBackup(
  tx: UserTx,
  owner: string,
  id: string,
  config: ConfigValue,
  at: Date,
  keep: number,
): Promise<void> {
  await tx
    .insertInto('config_backups')
    .values({ id, user_id: owner, config: JSON.stringify(config), created_at: at })
    .execute();
  const older = tx.selectFrom('config_backups').select('id').orderBy('number', 'desc').offset(keep);
  await tx.deleteFrom('config_backups').where('id', 'in', older).execute();
}

export const listBackups = (tx: UserTx) =>
  tx.selectFrom('config_backups').select(['id', 'created_at']).orderBy('number', 'desc').execute();

export async function findBackup(tx: UserTx, id: string) {
  const row = await tx
    .selectFrom('config_backups')
    .select(['id', 'created_at', 'config'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? { id: row.id, at: row.created_at, config: row.config as ConfigValue } : null;
}
