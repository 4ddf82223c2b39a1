import type { Database } from '@troupe/db';
import { AppError } from '@troupe/kernel';

/** 403 unless the agent is there and the user's. */
export async function mustOwn(db: Database, userId: string, agentId: string): Promise<void> {
  const found = await db.user(userId).selectFrom('agents').select('id').where('id', '=', agentId).executeTakeFirst();
  if (!found) throw new AppError(403, 'Agent not found or not owned by you');
}
