import type { SystemTx, UserTx } from '@troupe/db';

/** Those after `id`, newest first. */
export const noticesAfter = (tx: UserTx, id: bigint, limit: number) =>
  tx.selectFrom('notices').selectAll().where('id', '>', id).orderBy('id', 'desc').limit(limit).execute();

export async function countUnread(tx: UserTx): Promise<number> {
  const { count } = await tx
    .selectFrom('notices')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('read_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** All of them, or those that are named. */
export async function markRead(tx: UserTx, ids: bigint[] | undefined, now: Date): Promise<void> {
  // None named is none, and no list that a database could read.
  if (ids?.length === 0) return;
  const update = tx.updateTable('notices').set({ read_at: now }).where('read_at', 'is', null);
  await (ids ? update.where('id', 'in', ids) : update).execute();
}

export const newestId = async (tx: UserTx): Promise<bigint> =>
  (await tx.selectFrom('notices').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst())?.id ?? 0n;

/** What a mail tells of notices: those that nobody has read meanwhile, and whose they are. */
export const toldNotices = (tx: SystemTx, ids: bigint[]) =>
  tx
    .selectFrom('notices')
    .innerJoin('users', 'users.id', 'notices.user_id')
    .select(['notices.message', 'notices.link', 'users.name'])
    .where('notices.id', 'in', ids)
    .where('notices.read_at', 'is', null)
    .orderBy('notices.id')
    .execute();

export const letterboxOf = (tx: SystemTx, userId: string) =>
  tx
    .selectFrom('users')
    .select(['email', 'email_verified_at', 'notifications'])
    .where('id', '=', userId)
    .executeTakeFirst();

/** What another process has taken in the same moment is not among them. */
export const takeUnmailed = (tx: SystemTx, userId: string, now: Date) =>
  tx
    .updateTable('notices')
    .set({ mailed_at: now })
    .where('user_id', '=', userId)
    .where('mailed_at', 'is', null)
    .returning(['id', 'kind'])
    .execute();

/** Users with notices that no mail was made of, in the order of their ids. */
export const unmailedUsers = async (tx: SystemTx, after: string, limit: number): Promise<string[]> =>
  (
    await tx
      .selectFrom('notices')
      .select('user_id')
      .distinct()
      .where('mailed_at', 'is', null)
      .where('user_id', '>', after)
      .orderBy('user_id')
      .limit(limit)
      .execute()
  ).map(({ user_id }) => user_id);
