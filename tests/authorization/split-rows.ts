import type { Tables } from '@troupe/db';
import type { Insertable } from 'kysely';
import type { Marks } from './marks.ts';

/** A split of the owner's, and one part of it. */
export async function addSplit(
  add: <T extends keyof Tables>(table: T, values: Insertable<Tables[T]>) => Promise<unknown>,
  of: { user_id: string; agent_id: string },
  id: string,
  mark: Marks['mark'],
): Promise<void> {
  await add('splits', {
    ...of,
    id,
    name: mark('split'),
    units: 1n,
    payout: 'accrued',
    request_hash: 'h',
    created_at: new Date(),
  });
  await add('split_parts', {
    split_id: id,
    position: 0,
    user_id: of.user_id,
    address: mark('payee'),
    share: '100',
    units: 1n,
    status: 'accrued',
  });
}
