import type { Database } from '@troupe/db';

/** On whose plan something is charged. */
export const payerOf = (db: Database, userId: string) =>
  db.system
    .selectFrom('users')
    .select(['plan', 'subscription_status', 'is_admin'])
    .where('id', '=', userId)
    .executeTakeFirst();
