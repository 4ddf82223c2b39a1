import type { SystemTx } from '@troupe/db';

export const planOf = async (tx: SystemTx, userId: string): Promise<string | null | undefined> =>
  (await tx.selectFrom('users').select('plan').where('id', '=', userId).executeTakeFirst())?.plan;
