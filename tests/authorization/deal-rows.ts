import type { Tables } from '@troupe/db';
import { newId } from '@troupe/kernel';
import type { Insertable } from 'kysely';
import type { Marks } from './marks.ts';

/** What the owner's agent has offered to another one. */
export async function addDeals(
  add: <T extends keyof Tables>(table: T, values: Insertable<Tables[T]>) => Promise<unknown>,
  sides: { from_agent_id: string; from_user_id: string; to_agent_id: string; to_user_id: null },
  id: string,
  mark: Marks['mark'],
): Promise<void> {
  const at = { created_at: new Date(), updated_at: new Date() };
  await add('bookings', {
    ...sides,
    ...at,
    id,
    talent_name: mark('talent'),
    amount: 1n,
    status: 'offered',
    last_by: sides.from_agent_id,
  });
  await add('amplify_requests', {
    ...sides,
    ...at,
    id: newId(),
    content: mark('amplify'),
    reward: 1n,
    status: 'requested',
  });
}
