import type { UserTx } from '@troupe/db';

const COLUMNS = [
  'id',
  'name',
  'description',
  'cron_schedule',
  'timezone',
  'prompt',
  'enabled',
  'last_run',
  'next_run',
  'agent_id',
  'created_at',
  'updated_at',
] as const;

export const listTasks = (tx: UserTx, agentId: string | undefined) => {
  const query = tx.selectFrom('scheduled_tasks').select(COLUMNS).orderBy('created_at', 'desc').orderBy('id');
  return (agentId === undefined ? query : query.where('agent_id', '=', agentId)).execute();
};

export const lockTask = (tx: UserTx, id: string) =>
  tx.selectFrom('scheduled_tasks').select(COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst();

export const taskExists = async (tx: UserTx, id: string): Promise<boolean> =>
  (await tx.selectFrom('scheduled_tasks').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

export interface TaskFields {
  name: string;
  description: string | null;
  cron_schedule: string;
  timezone: string;
  prompt: string;
  enabled: boolean;
  next_run: Date | null;
  updated_at: Date;
}

export const insertTask = (
  tx: UserTx,
  task: TaskFields & { id: string; user_id: string; agent_id: string; created_at: Date },
) => tx.insertInto('scheduled_tasks').values(task).returning(COLUMNS).executeTakeFirstOrThrow();

export const updateTask = (tx: UserTx, id: string, fields: TaskFields) =>
  tx
    .updateTable('scheduled_tasks')
    .set({ ...fields, failures_in_row: 0 })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();

export async function removeTask(tx: UserTx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('scheduled_tasks').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

export const ownsAgent = async (tx: UserTx, agentId: string): Promise<boolean> =>
  (await tx.selectFrom('agents').select('id').where('id', '=', agentId).executeTakeFirst()) !== undefined;

export const listRuns = (tx: UserTx, taskId: string, limit: number) =>
  tx
    .selectFrom('task_runs')
    .select(['id', 'due_at', 'occurrences', 'started_at', 'finished_at', 'status', 'output', 'error'])
    .where('task_id', '=', taskId)
    .orderBy('due_at', 'desc')
    .limit(limit)
    .execute();
