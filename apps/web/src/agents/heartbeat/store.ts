import { isOrphan, type UserTx } from '@troupe/db';

export const findHeartbeat = (tx: UserTx, agentId: string) =>
  tx.selectFrom('heartbeats').selectAll().where('agent_id', '=', agentId).executeTakeFirst();

interface Heartbeat {
  agentId: string;
  userId: string;
  frequency: string;
  seconds: number;
  enabled: boolean;
  next: Date;
}

/** False: the agent was deleted in the same moment. */
export async function putHeartbeat(
  tx: UserTx,
  { agentId, userId, frequency, seconds, enabled, next }: Heartbeat,
): Promise<boolean> {
  const values = { frequency, seconds, enabled, next_heartbeat: next };
  try {
    await tx
      .insertInto('heartbeats')
      .values({ agent_id: agentId, user_id: userId, ...values })
      .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
      .execute();
    return true;
  } catch (error) {
    if (isOrphan(error)) return false;
    throw error;
  }
}

export const removeHeartbeat = (tx: UserTx, agentId: string) =>
  tx.deleteFrom('heartbeats').where('agent_id', '=', agentId).execute();
