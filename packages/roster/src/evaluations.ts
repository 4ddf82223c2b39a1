import type { SystemTx, UserTx } from '@troupe/db';

/** What web and the backend both ask of the trials of an agent. */

type Tx = UserTx | SystemTx;

/** Its owner wants changes tried first. */
export async function isGated(tx: Tx, agentId: string): Promise<boolean> {
  const found = await tx
    .selectFrom('evaluation_gates')
    .select('agent_id')
    .where('agent_id', '=', agentId)
    .executeTakeFirst();
  return found !== undefined;
}

/** The newest of those that came to an end; whoever asks says which of them. */
export const newestTried = (tx: Tx, agentId: string) =>
  tx
    .selectFrom('evaluations')
    .select(['id', 'status'])
    .where('agent_id', '=', agentId)
    .where('status', 'in', ['passed', 'failed'])
    .orderBy('created_at', 'desc')
    .limit(1);
