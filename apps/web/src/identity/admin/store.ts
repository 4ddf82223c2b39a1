import { USER_COLUMNS, type UserRow } from '@troupe/accounts';
import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

export type PersonRow = UserRow & {
  credit_micros: bigint;
  created_at: Date;
  erase_at: Date | null;
  second_factor: boolean;
};

const COLUMNS = [...USER_COLUMNS, 'credit_micros', 'created_at', 'erase_at'] as const;

const hasFactor = sql<boolean>`exists (
  select from second_factors f where f.user_id = users.id and f.confirmed_at is not null)`.as('second_factor');

/** Its own signs are not wild ones. */
const containing = (search: string): string => `%${search.replace(/[\\%_]/g, String.raw`\$&`)}%`;

const matching = (tx: SystemTx, search: string | undefined) => {
  const query = tx.selectFrom('users');
  if (!search) return query;
  return query.where((eb) =>
    eb.or([eb('email', 'ilike', containing(search)), eb('name', 'ilike', containing(search))]),
  );
};

export const listUsers = (
  tx: SystemTx,
  { limit, offset, search }: { limit: number; offset: number; search?: string },
): Promise<PersonRow[]> =>
  matching(tx, search)
    .select(COLUMNS)
    .select(hasFactor)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();

export async function countUsers(tx: SystemTx, search: string | undefined): Promise<number> {
  const { count } = await matching(tx, search)
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export const findUser = (tx: SystemTx, id: string): Promise<PersonRow | undefined> =>
  tx.selectFrom('users').select(COLUMNS).select(hasFactor).where('id', '=', id).executeTakeFirst();
