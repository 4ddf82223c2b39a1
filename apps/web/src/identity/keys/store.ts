import { compiled, type SystemTx, type UserTx } from '@troupe/db';

const COLUMNS = ['id', 'name', 'preview', 'created_at', 'last_used_at', 'origins'] as const;

export interface KeyRow {
  id: string;
  name: string;
  preview: string;
  created_at: Date;
  last_used_at: Date | null;
  origins: string[];
}

export const listKeys = compiled((tx: UserTx) =>
  tx.selectFrom('api_keys').select(COLUMNS).orderBy('created_at', 'desc'),
);

export const findKey = (tx: UserTx, id: string): Promise<KeyRow | undefined> =>
  tx.selectFrom('api_keys').select(COLUMNS).where('id', '=', id).executeTakeFirst();

/** Locks the user's row, so that two at once do not both see room for one more. */
export async function countKeys(tx: UserTx | SystemTx, userId: string): Promise<number> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute();
  const { count } = await tx
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function hasSession(tx: UserTx, id: string | null): Promise<boolean> {
  return (await tx.selectFrom('sessions').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}

export async function insertKey(
  tx: UserTx | SystemTx,
  key: {
    id: string;
    user_id: string;
    name: string;
    preview: string;
    key_hash: string;
    created_at: Date;
    origins: string[];
  },
): Promise<void> {
  await tx.insertInto('api_keys').values(key).execute();
}

export async function deleteKey(tx: UserTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('api_keys').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}
