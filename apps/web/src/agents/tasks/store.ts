import type { ScheduledTask } from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

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
  'tells',
  'created_at',
  'updated_at',
] as const;

/** About 2 MB at most. */
const PAGE_BYTES = 2n * 1024n * 1024n;

export interface Page {
  limit: number;
  offset: number;
}

/** A page of them, fewer than `limit` where they are large; `found` counts one more than the page where there is one. */
export const listTasks = (tx: UserTx, agentId: string | undefined, { limit, offset }: Page) => {
  const size = sql<bigint>`octet_length(prompt) + coalesce(octet_length(description), 0)`;
  return tx
    .with('page', (from) =>
      from
        .selectFrom('scheduled_tasks')
        .select(COLUMNS)
        .$if(agentId !== undefined, (query) => query.where('agent_id', '=', agentId!))
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(limit + 1)
        .offset(offset),
    )
    .with('sized', (from) =>
      from
        .selectFrom('page')
        .select(COLUMNS)
        .select(sql<bigint>`sum(${size}) over (order by created_at desc, id) - (${size})`.as('before'))
        .select(sql<number>`(count(*) over ())::integer`.as('found')),
    )
    .selectFrom('sized')
    .select([...COLUMNS, 'found'])
    .where('before', '<', PAGE_BYTES)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
};

/** How many the user has; two at once wait for each other until the transaction ends. */
export async function countTasks(tx: UserTx, userId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tasks:${userId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom('scheduled_tasks')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

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
  tells: ScheduledTask['tells'];
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

const RUN_COLUMNS = [
  'id',
  'due_at',
  'occurrences',
  'started_at',
  'finished_at',
  'status',
  'output',
  'error',
  'source',
  'trigger_id',
  'input',
] as const;

export const findRun = (tx: UserTx, taskId: string, runId: string) =>
  tx
    .selectFrom('task_runs')
    .select(RUN_COLUMNS)
    .where('task_id', '=', taskId)
    .where('id', '=', runId)
    .executeTakeFirst();

/** Of one that waits, the list shows the beginning. */
const SHOWN = 2000;

export const listRuns = (tx: UserTx, taskId: string, limit: number) =>
  tx
    .selectFrom('task_runs')
    .select(RUN_COLUMNS)
    .where('task_id', '=', taskId)
    .orderBy('due_at', 'desc')
    .limit(limit)
    .execute()
    .then((rows) => rows.map((row) => ({ ...row, input: row.input?.slice(0, SHOWN) ?? null })));
