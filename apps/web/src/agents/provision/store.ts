import type { Database } from '@troupe/db';

/** The contract has the last instance that a user provisioned stand in the user's row, with its address. */
export async function rememberInstance(
  db: Database,
  userId: string,
  { agentId, url }: { agentId: string; url: string },
): Promise<void> {
  await db.system
    .updateTable('users')
    .set({ instance_id: agentId, instance_url: url })
    .where('id', '=', userId)
    .execute();
}
