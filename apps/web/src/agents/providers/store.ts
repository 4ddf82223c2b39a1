import type { SystemTx } from '@troupe/db';

/** Administrators see all of them, and nobody else any: the system's scope. */

const COLUMNS = ['id', 'kind', 'name', 'base_url', 'key_sealed', 'models', 'enabled', 'created_at'] as const;

export interface ProviderRow {
  id: string;
  kind: string;
  name: string;
  base_url: string | null;
  key_sealed: Buffer | null;
  /** Null: what it lists. */
  models: string[] | null;
  enabled: boolean;
  created_at: Date;
}

export const listProviders = (tx: SystemTx): Promise<ProviderRow[]> =>
  tx.selectFrom('ai_providers').select(COLUMNS).orderBy('created_at').orderBy('id').execute();

export const findProvider = (tx: SystemTx, id: string): Promise<ProviderRow | undefined> =>
  tx.selectFrom('ai_providers').select(COLUMNS).where('id', '=', id).executeTakeFirst();

/** False: its name is taken. */
export async function insertProvider(tx: SystemTx, row: ProviderRow): Promise<boolean> {
  const made = await tx
    .insertInto('ai_providers')
    .values(row)
    .onConflict((on) => on.column('name').doNothing())
    .executeTakeFirst();
  return (made.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export const updateProvider = (
  tx: SystemTx,
  id: string,
  values: Partial<Pick<ProviderRow, 'base_url' | 'key_sealed' | 'models' | 'enabled'>>,
): Promise<ProviderRow | undefined> =>
  tx.updateTable('ai_providers').set(values).where('id', '=', id).returning(COLUMNS).executeTakeFirst();

export const deleteProvider = (tx: SystemTx, id: string): Promise<ProviderRow | undefined> =>
  tx.deleteFrom('ai_providers').where('id', '=', id).returning(COLUMNS).executeTakeFirst();
