import type { SystemTx, UserTx } from '@troupe/db';
import type { Plan, SubscriptionStatus } from '@troupe/domain';

/** False: this event was taken before. Of two deliveries at once the second waits for the first to commit. */
export async function takeEvent(tx: SystemTx, event: { id: string; type: string }, now: Date): Promise<boolean> {
  const row = await tx
    .insertInto('billing_events')
    .values({ id: event.id, type: event.type, received_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function customerOf(tx: UserTx | SystemTx, userId: string): Promise<string | null> {
  const row = await tx
    .selectFrom('billing_customers')
    .select('customer_id')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.customer_id ?? null;
}

export async function userOfCustomer(tx: SystemTx, customerId: string): Promise<string | null> {
  const row = await tx
    .selectFrom('billing_customers')
    .select('user_id')
    .where('customer_id', '=', customerId)
    .executeTakeFirst();
  return row?.user_id ?? null;
}

/** The first customer of a user stays. */
export async function saveCustomer(tx: SystemTx, userId: string, customerId: string, now: Date): Promise<void> {
  await tx
    .insertInto('billing_customers')
    .values({ user_id: userId, customer_id: customerId, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export interface SubscriptionRow {
  id: string;
  plan: Plan;
  status: SubscriptionStatus;
  renews_at: Date | null;
  event_at: Date;
}

export const subscriptionsOf = (tx: UserTx | SystemTx, userId: string): Promise<SubscriptionRow[]> =>
  tx
    .selectFrom('billing_subscriptions')
    .select(['id', 'plan', 'status', 'renews_at', 'event_at'])
    .where('user_id', '=', userId)
    .execute();

export async function saveSubscription(tx: SystemTx, userId: string, row: SubscriptionRow): Promise<void> {
  const { id, ...rest } = row;
  await tx
    .insertInto('billing_subscriptions')
    .values({ id, user_id: userId, ...rest })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
}

/** Events about one user take turns. False: there is no such user. */
export async function lockUser(tx: SystemTx, userId: string): Promise<boolean> {
  const row = await tx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().executeTakeFirst();
  return row !== undefined;
}
