import type { SystemTx } from '@troupe/db';

/** Who owns what nobody in particular owns; there already: nothing changes. */
export const addOwner = (tx: SystemTx, id: string, at: Date) =>
  tx
    .insertInto('users')
    .values({
      id,
      email: `${id}@troupe.internal`,
      name: 'Installation',
      referral_code: id,
      created_at: at,
      updated_at: at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
