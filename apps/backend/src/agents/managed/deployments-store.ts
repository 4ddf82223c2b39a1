import type { Database, SystemTx, Tables, UserTx } from '@troupe/db';
import { sql, type Insertable, type Updateable } from 'kysely';
import type { Page } from './store.ts';

/** Deployments: scheduled tasks with a row beside them, and their receipts with another. */

const joined = (tx: UserTx) =>
  tx
    .selectFrom('scheduled_tasks as task')
    .innerJoin('managed_deployments as own', 'own.task_id', 'task.id')
    .select([
      'task.id',
      'task.agent_id',
      'task.name',
      'task.description',
      'task.cron_schedule',
      'task.timezone',
      'task.prompt',
      'task.enabled',
      'task.last_run',
      'task.created_at',
      'task.updated_at',
      'own.environment_id',
      'own.metadata',
      'own.archived_at',
    ]);

export type DeploymentRow = NonNullable<Awaited<ReturnType<typeof find>>>;

export const find = (tx: UserTx, id: string) => joined(tx).where('task.id', '=', id).executeTakeFirst();

export const lock = (tx: UserTx, id: string) =>
  joined(tx).where('task.id', '=', id).forNoKeyUpdate('task').executeTakeFirst();

interface Wanted extends Page {
  agentId: string | undefined;
  enabled: boolean | undefined;
}

export const list = (db: Database, userId: string, { limit, offset, archived, agentId, enabled }: Wanted) =>
  joined(db.user(userId))
    .$if(!archived, (query) => query.where('own.archived_at', 'is', null))
    .$if(agentId !== undefined, (query) => query.where('task.agent_id', '=', agentId!))
    .$if(enabled !== undefined, (query) => query.where('task.enabled', '=', enabled!))
    .orderBy('task.created_at', 'desc')
    .orderBy('task.id')
    .limit(limit)
    .offset(offset)
    .execute();

/** How many tasks of any kind the user has; two at once, also in web, wait for each other until the transaction ends. */
export async function countTasks(tx: UserTx, userId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`tasks:${userId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom('scheduled_tasks')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function add(
  tx: UserTx,
  task: Insertable<Tables['scheduled_tasks']>,
  own: Omit<Insertable<Tables['managed_deployments']>, 'task_id' | 'user_id'>,
): Promise<void> {
  await tx.insertInto('scheduled_tasks').values(task).execute();
  await tx
    .insertInto('managed_deployments')
    .values({ task_id: task.id, user_id: task.user_id, ...own })
    .execute();
}

export async function change(
  tx: UserTx,
  id: string,
  task: Updateable<Tables['scheduled_tasks']>,
  own: Updateable<Tables['managed_deployments']>,
): Promise<void> {
  await tx.updateTable('scheduled_tasks').set(task).where('id', '=', id).execute();
  if (Object.keys(own).length > 0)
    await tx.updateTable('managed_deployments').set(own).where('task_id', '=', id).execute();
}

/** Receipts of a deployment within an hour that no schedule has started. */
export async function countRuns(tx: UserTx, id: string): Promise<number> {
  const { count } = await tx
    .selectFrom('task_runs')
    .select((eb) => eb.fn.countAll<bigint>().as('count'))
    .where('task_id', '=', id)
    .where('source', '<>', 'schedule')
    .where('due_at', '>', sql<Date>`clock_timestamp() - interval '1 hour'`)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** A receipt under way. Whoever finds it when its time is over goes on with it. */
export const beginRun = (tx: UserTx, id: string, { taskId, userId }: { taskId: string; userId: string }, ms: number) =>
  sql`insert into task_runs (id, task_id, user_id, due_at, status, started_at, source, lease_until)
    values (${id}, ${taskId}, ${userId}, clock_timestamp(), 'running', clock_timestamp(), 'api',
      clock_timestamp() + ${ms} * interval '1 millisecond')`.execute(tx);

export const endRun = (tx: SystemTx, id: string, { output, error }: { output: string | null; error: string | null }) =>
  tx
    .updateTable('task_runs')
    .set({
      status: error === null ? 'succeeded' : 'failed',
      output,
      error,
      finished_at: sql<Date>`clock_timestamp()`,
      lease_until: null,
    })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .execute();

export const noteRun = (
  db: Database,
  userId: string,
  runId: string,
  came: { session_id: string | null; error: string | null },
) =>
  db
    .user(userId)
    .insertInto('managed_deployment_runs')
    .values({ run_id: runId, user_id: userId, ...came })
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet(came))
    .execute();

const runs = (db: Database, userId: string) =>
  db
    .user(userId)
    .selectFrom('task_runs as run')
    .innerJoin('managed_deployments as own', 'own.task_id', 'run.task_id')
    .innerJoin('scheduled_tasks as task', 'task.id', 'run.task_id')
    .leftJoin('managed_deployment_runs as came', 'came.run_id', 'run.id')
    .select([
      'run.id',
      'run.task_id',
      'run.due_at',
      'run.started_at',
      'run.source',
      'run.status',
      'run.error',
      'task.agent_id',
      'came.session_id',
      'came.error as kind',
    ]);

export type RunRow = NonNullable<Awaited<ReturnType<typeof findRun>>>;

export const findRun = (db: Database, userId: string, id: string) =>
  runs(db, userId).where('run.id', '=', id).executeTakeFirst();

export interface RunFilter {
  deploymentId: string | undefined;
  hasError: boolean | undefined;
  trigger: 'manual' | 'schedule' | undefined;
}

export const listRuns = (
  db: Database,
  userId: string,
  { limit, offset, deploymentId, hasError, trigger }: Page & RunFilter,
) =>
  runs(db, userId)
    .$if(deploymentId !== undefined, (query) => query.where('run.task_id', '=', deploymentId!))
    .$if(hasError !== undefined, (query) => query.where('run.error', hasError ? 'is not' : 'is', null))
    .$if(trigger !== undefined, (query) => query.where('run.source', trigger === 'schedule' ? '=' : '<>', 'schedule'))
    .orderBy('run.due_at', 'desc')
    .orderBy('run.id')
    .limit(limit)
    .offset(offset)
    .execute();
