import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

/** Due tasks that no other process is looking at, oldest first; held until the transaction ends. */
export const takeDue = (tx: SystemTx, now: Date, limit: number) =>
  tx
    .selectFrom('scheduled_tasks as task')
    .select([
      'task.id',
      'task.user_id',
      'task.agent_id',
      'task.name',
      'task.cron_schedule',
      'task.timezone',
      'task.prompt',
      'task.next_run',
    ])
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('task_runs as run')
            .select('run.id')
            .whereRef('run.task_id', '=', 'task.id')
            .where('run.status', '=', 'running'),
        )
        .as('running'),
    )
    .where('task.enabled', '=', true)
    .where('task.next_run', '<=', now)
    .orderBy('task.next_run')
    .limit(limit)
    .forUpdate('task')
    .skipLocked()
    .execute();

export interface Receipt {
  id: string;
  task_id: string;
  user_id: string;
  due_at: Date;
  occurrences: number;
  status: 'running' | 'skipped';
  started_at: Date;
  finished_at: Date | null;
  error: string | null;
  lease_until: Date | null;
}

export const addReceipts = (tx: SystemTx, receipts: Receipt[]) => tx.insertInto('task_runs').values(receipts).execute();

export const moveOn = (tx: SystemTx, taskId: string, nextRun: Date | null, lastRun: Date | null) =>
  tx
    .updateTable('scheduled_tasks')
    .set({ next_run: nextRun, ...(lastRun ? { last_run: lastRun } : {}) })
    .where('id', '=', taskId)
    .execute();

export interface Outcome {
  status: 'succeeded' | 'failed';
  output: string | null;
  error: string | null;
  at: Date;
}

/** False: the receipt was closed by somebody who thought this process dead. */
export async function closeReceipt(
  tx: SystemTx,
  runId: string,
  { status, output, error, at }: Outcome,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('task_runs')
    .set({ status, output, error, finished_at: at, lease_until: null })
    .where('id', '=', runId)
    .where('status', '=', 'running')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Answers how often in a row the task has failed now. */
export async function countFailure(tx: SystemTx, taskId: string, failed: boolean): Promise<number> {
  const row = await tx
    .updateTable('scheduled_tasks')
    .set({ failures_in_row: failed ? sql<number>`failures_in_row + 1` : 0 })
    .where('id', '=', taskId)
    .returning('failures_in_row')
    .executeTakeFirst();
  return row?.failures_in_row ?? 0;
}

/** Runs whose process has ended without saying how they went. */
export const takeAbandoned = (tx: SystemTx, now: Date, limit: number) =>
  tx
    .selectFrom('task_runs as run')
    .innerJoin('scheduled_tasks as task', 'task.id', 'run.task_id')
    .select(['run.id', 'run.task_id', 'run.user_id', 'task.name', 'task.agent_id'])
    .where('run.status', '=', 'running')
    .where('run.lease_until', '<', now)
    .limit(limit)
    .forUpdate('run')
    .skipLocked()
    .execute();

export const takeHeartbeats = (tx: SystemTx, now: Date, limit: number) =>
  tx
    .selectFrom('heartbeats')
    .select(['agent_id', 'user_id', 'seconds'])
    .where('enabled', '=', true)
    .where('next_heartbeat', '<=', now)
    .orderBy('next_heartbeat')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();

export const moveHeartbeat = (tx: SystemTx, agentId: string, last: Date, next: Date) =>
  tx
    .updateTable('heartbeats')
    .set({ last_heartbeat: last, next_heartbeat: next })
    .where('agent_id', '=', agentId)
    .execute();
