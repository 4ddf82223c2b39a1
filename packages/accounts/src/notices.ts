import { notify, type SystemTx, type UserTx } from '@troupe/db';
import type { Notice } from '@troupe/contract';

/** The channel on which new notices are told to all processes; the payload is the user's id. */
export const NOTICES = 'notices';

export interface NewNotice {
  userId: string;
  kind: Notice['kind'];
  /** What it is about: the same thing is told once while it is unread. */
  subject: string;
  message: string;
  link?: string;
}

/** What it was about is settled: nobody need look any more. */
export async function settleNotice(
  tx: UserTx | SystemTx,
  { kind, subject }: Pick<NewNotice, 'kind' | 'subject'>,
  at: Date,
): Promise<void> {
  await tx
    .updateTable('notices')
    .set({ read_at: at })
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('read_at', 'is', null)
    .execute();
}

/** Tells the user something that needs attention. False: the same is there already, unread. */
export async function raiseNotice(
  tx: UserTx | SystemTx,
  { userId, kind, subject, message, link }: NewNotice,
  at: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('notices')
    .values({ user_id: userId, kind, subject, message, link: link ?? null, created_at: at })
    .onConflict((conflict) => conflict.columns(['user_id', 'kind', 'subject']).where('read_at', 'is', null).doNothing())
    .executeTakeFirst();
  if (!numInsertedOrUpdatedRows) return false;
  await notify(tx, NOTICES, userId);
  return true;
}
