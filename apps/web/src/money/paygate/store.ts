import type { SystemTx, UserTx } from '@troupe/db';

export const joinColony = (
  tx: UserTx,
  { userId, agentId }: { userId: string; agentId: string },
  wallet: string,
  now: Date,
) =>
  tx
    .insertInto('colony_members')
    .values({ user_id: userId, agent_id: agentId, wallet_address: wallet, joined_at: now })
    .onConflict((conflict) => conflict.columns(['user_id', 'agent_id']).doUpdateSet({ wallet_address: wallet }))
    .execute();

/** False: the payment is not pending any more. */
export async function markPaid(tx: SystemTx, id: string, now: Date): Promise<boolean> {
  const paid = await tx
    .updateTable('agent_payments')
    .set({ status: 'paid', updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .returning('id')
    .executeTakeFirst();
  return paid !== undefined;
}
