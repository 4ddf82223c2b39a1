import { notify, type SystemTx, type UserTx } from '@troupe/db';
import { noticeRaised, type Notice } from '@troupe/contract';

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

/** Who has so many of a kind to read is told enough; a thousand failing tasks must not hide everything else. */
const UNREAD_OF_A_KIND = 200;

async function isEnough(tx: UserTx | SystemTx, { userId, kind }: Pick<NewNotice, 'userId' | 'kind'>): Promise<boolean> {
  const row = await tx
    .selectFrom('notices')
    .select('id')
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .where('read_at', 'is', null)
    .limit(1)
    .offset(UNREAD_OF_A_KIND - 1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Tells the user something that needs attention. False: the same is there already, unread, or too much of its kind. */
export async function raiseNotice(
  tx: UserTx | SystemTx,
  { userId, kind, subject, message, link }: NewNotice,
  at: Date,
): Promise<boolean> {
  if (await isEnough(tx, { userId, kind })) return false;
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('notices')
    .values({ user_id: userId, kind, subject, message, link: link ?? null, created_at: at })
    .onConflict((conflict) => conflict.columns(['user_id', 'kind', 'subject']).where('read_at', 'is', null).doNothing())
    .executeTakeFirst();
  if (!numInsertedOrUpdatedRows) return false;
  await notify(tx, noticeRaised, userId);
  return true;
}
