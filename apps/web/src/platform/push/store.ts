import type { PushSubscriptionRow } from '@troupe/contract';
import type { SystemTx, UserTx } from '@troupe/db';
import { iso, isoOrNull } from '@troupe/kernel';

interface Row {
  id: string;
  endpoint: string;
  name: string;
  created_at: Date;
  told_at: Date | null;
}

export const shown = ({ id, endpoint, name, created_at, told_at }: Row): PushSubscriptionRow => ({
  id,
  endpoint,
  name,
  createdAt: iso(created_at),
  toldAt: isoOrNull(told_at),
});

export const readKeys = (tx: SystemTx) =>
  tx.selectFrom('push_keys').select(['public_key', 'private_key']).executeTakeFirst();

/** Of several who make one at once, the first counts. */
export async function addKeys(tx: SystemTx, public_key: Buffer, private_key: Buffer, created_at: Date): Promise<void> {
  await tx
    .insertInto('push_keys')
    .values({ public_key, private_key, created_at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export const listSubscriptions = (tx: UserTx): Promise<Row[]> =>
  tx
    .selectFrom('push_subscriptions')
    .select(['id', 'endpoint', 'name', 'created_at', 'told_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute();

export const choicesOf = (tx: UserTx, userId: string) =>
  tx.selectFrom('users').select('notifications').where('id', '=', userId).executeTakeFirst();

/** Two that one user makes at once must not both be the last one. */
export const takeTurn = (tx: SystemTx, userId: string) =>
  tx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().executeTakeFirst();

export interface NewSubscription {
  id: string;
  user_id: string;
  endpoint: string;
  p256dh: Buffer;
  auth: Buffer;
  name: string;
  created_at: Date;
}

export const countOthers = async (tx: SystemTx, userId: string, endpoint: string): Promise<number> => {
  const rows = await tx
    .selectFrom('push_subscriptions')
    .select('id')
    .where('user_id', '=', userId)
    .where('endpoint', '<>', endpoint)
    .execute();
  return rows.length;
};

/** A browser belongs to whoever uses it now. Only whoever has all of its keys can say so. */
export async function addSubscription(tx: SystemTx, row: NewSubscription): Promise<Row> {
  const { user_id, endpoint, p256dh, auth, name } = row;
  await tx
    .deleteFrom('push_subscriptions')
    .where('endpoint', '=', endpoint)
    .where('user_id', '<>', user_id)
    .where('p256dh', '=', p256dh)
    .where('auth', '=', auth)
    .execute();
  return tx
    .insertInto('push_subscriptions')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'endpoint']).doUpdateSet({ p256dh, auth, name, failures: 0 }),
    )
    .returning(['id', 'endpoint', 'name', 'created_at', 'told_at'])
    .executeTakeFirstOrThrow();
}

export async function removeSubscription(tx: UserTx, id: string): Promise<boolean> {
  const gone = await tx.deleteFrom('push_subscriptions').where('id', '=', id).returning('id').execute();
  return gone.length > 0;
}

export async function countWaiting(tx: UserTx): Promise<number> {
  const rows = await tx.selectFrom('push_messages').select('id').where('queued_at', 'is', null).limit(100).execute();
  return rows.length;
}

/** A message of our own making. */
export const addTest = (tx: UserTx, id: string, user_id: string, at: Date) =>
  tx.insertInto('push_messages').values({ id, user_id, kind: 'test', data: '{}', at }).execute();

/** Some that nobody has taken up, and the browsers that each goes to; from now on they are taken. */
export async function takeNew(tx: SystemTx, limit: number, at: Date) {
  const taken = await tx
    .updateTable('push_messages')
    .set({ queued_at: at })
    .where('id', 'in', (query) =>
      query
        .selectFrom('push_messages')
        .select('id')
        .where('queued_at', 'is', null)
        .orderBy('at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'user_id'])
    .execute();
  if (taken.length === 0) return { count: 0, sends: [] };
  const users = [...new Set(taken.map(({ user_id: id }) => id))];
  const browsers = await tx
    .selectFrom('push_subscriptions')
    .select(['id', 'user_id'])
    .where('user_id', 'in', users)
    .execute();
  const sends = taken.flatMap(({ id, user_id: owner }) =>
    browsers
      .filter((browser) => browser.user_id === owner)
      .map(({ id: subscriptionId }) => ({ id, subscriptionId, owner })),
  );
  return { count: taken.length, sends };
}

/** A message and the browser it goes to; undefined when one of them is gone. */
export const findSend = (tx: SystemTx, id: string, subscriptionId: string) =>
  tx
    .selectFrom('push_messages as message')
    .innerJoin('push_subscriptions as browser', 'browser.user_id', 'message.user_id')
    .select(['message.id', 'message.kind', 'message.data', 'message.user_id'])
    .select(['browser.id as browser_id', 'browser.endpoint', 'browser.p256dh', 'browser.auth', 'browser.failures'])
    .where('message.id', '=', id)
    .where('browser.id', '=', subscriptionId)
    .executeTakeFirst();

export type Send = NonNullable<Awaited<ReturnType<typeof findSend>>>;

export const agentName = (tx: SystemTx, id: string) =>
  tx.selectFrom('agents').select('name').where('id', '=', id).executeTakeFirst();

export const taskName = (tx: SystemTx, id: string) =>
  tx.selectFrom('scheduled_tasks').select('name').where('id', '=', id).executeTakeFirst();

export const dropSubscription = (tx: SystemTx, id: string) =>
  tx.deleteFrom('push_subscriptions').where('id', '=', id).execute();

export const noteTold = (tx: SystemTx, id: string, told_at: Date) =>
  tx.updateTable('push_subscriptions').set({ told_at, failures: 0 }).where('id', '=', id).execute();

export const noteFailure = (tx: SystemTx, id: string) =>
  tx
    .updateTable('push_subscriptions')
    .set(({ eb }) => ({ failures: eb('failures', '+', 1) }))
    .where('id', '=', id)
    .execute();

export const forgetBefore = (tx: SystemTx, then: Date) =>
  tx.deleteFrom('push_messages').where('at', '<', then).execute();
