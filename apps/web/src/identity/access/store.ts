import type { SystemTx, UserTx } from '@troupe/db';

export const readRequest = (tx: UserTx | SystemTx, userId: string) =>
  tx.selectFrom('access_requests').selectAll().where('user_id', '=', userId).executeTakeFirst();

/** Until when the plan was given. */
export const readPlanEnd = (tx: SystemTx, userId: string) =>
  tx.selectFrom('users').select('plan_ends_at').where('id', '=', userId).executeTakeFirst();

/** A new request, or another note to the one that waits. */
export async function saveRequest(tx: SystemTx, userId: string, note: string, now: Date): Promise<void> {
  const fresh = { note, asked_at: now, state: 'asked' as const, decided_at: null, decided_by: null, answer: '' };
  await tx
    .insertInto('access_requests')
    .values({ user_id: userId, ...fresh })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(fresh))
    .execute();
}

export const changeNote = (tx: SystemTx, userId: string, note: string) =>
  tx.updateTable('access_requests').set({ note }).where('user_id', '=', userId).execute();

const waiting = (tx: SystemTx) => tx.selectFrom('access_requests').where('access_requests.state', '=', 'asked');

export const listWaiting = (tx: SystemTx, { limit, offset }: { limit: number; offset: number }) =>
  waiting(tx)
    .innerJoin('users', 'users.id', 'access_requests.user_id')
    .select(['users.id', 'users.name', 'users.email', 'users.email_verified_at', 'note', 'asked_at'])
    .orderBy('asked_at')
    .orderBy('users.id')
    .limit(limit)
    .offset(offset)
    .execute();

export async function countWaiting(tx: SystemTx): Promise<number> {
  const { count } = await waiting(tx)
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** False: nobody waits there, or another administrator was faster. */
export async function settleRequest(
  tx: SystemTx,
  userId: string,
  decision: { state: 'granted' | 'refused'; answer: string; by: string | null },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('access_requests')
    .set({ state: decision.state, answer: decision.answer, decided_at: now, decided_by: decision.by })
    .where('user_id', '=', userId)
    .where('state', '=', 'asked')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export const administrators = (tx: SystemTx) =>
  tx.selectFrom('users').select('id').where('is_admin', '=', true).limit(100).execute();
