import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

export interface Shares {
  /** How many may be taken. */
  places: number;
  /** Of these only for users who have nothing under way. */
  reserved: number;
  /** How many runs of one user are under way at once, in all processes. */
  perUser: number;
  /** Something is under way whose end may free a place: only then it matters that all who have something due are full. */
  busy: boolean;
}

interface DueTasks {
  tasks: Awaited<ReturnType<typeof lockDue>>;
  /** Due as well, and left for later. */
  left: boolean;
  /** Of those that were chosen others have taken some meanwhile: their places are free. */
  lost: boolean;
}

/**
 * Due tasks that no other process is looking at; held until the transaction ends. Users take turns: whoever has fewest
 * under way comes first, then the oldest; so the thousand tasks of one user leave the others their places.
 */
export async function takeDue(tx: SystemTx, now: Date, { places, reserved, perUser, busy }: Shares): Promise<DueTasks> {
  const { rows } = await sql<{ id: string; rank: number; due: number }>`
    with due as (
      select user_id, count(*)::int as tasks from scheduled_tasks where enabled and next_run <= ${now} group by user_id
    ), users as (
      select due.*, (select count(*)::int from task_runs run where run.user_id = due.user_id and run.status = 'running') as busy
      from due
    )
    select task.id, users.busy + task.place as rank, (select sum(tasks)::int from due) as due
    from users cross join lateral (
      select id, next_run, row_number() over (order by next_run, id)::int as place from scheduled_tasks
      where user_id = users.user_id and enabled and next_run <= ${now}
      order by next_run, id limit greatest(${perUser}::int - users.busy, 0)
    ) task
    order by rank, task.next_run, task.id limit ${places}`.execute(tx);
  const chosen = rows.filter(({ rank }, index) => rank === 1 || index < places - reserved);
  const tasks = chosen.length === 0 ? [] : await lockDue(tx, now, chosen);
  const left = (rows[0]?.due ?? 0) > tasks.length || (busy && rows.length === 0 && (await isDue(tx, now)));
  return { tasks, left, lost: tasks.length < chosen.length };
}

/** Somebody may have taken one in between: then it is not there. */
const lockDue = (tx: SystemTx, now: Date, chosen: { id: string }[]) =>
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
    .where(
      'task.id',
      'in',
      chosen.map(({ id }) => id),
    )
    .where('task.enabled', '=', true)
    .where('task.next_run', '<=', now)
    .orderBy('task.next_run')
    .forUpdate('task')
    .skipLocked()
    .execute();

const isDue = async (tx: SystemTx, now: Date): Promise<boolean> =>
  (await tx
    .selectFrom('scheduled_tasks')
    .select('id')
    .where('enabled', '=', true)
    .where('next_run', '<=', now)
    .limit(1)
    .executeTakeFirst()) !== undefined;

/** The database's own: processes need not agree on the time. */
export async function databaseTime(tx: SystemTx): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(tx);
  return rows[0]!.now;
}

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

/** Characters of what arrived that stay with a receipt; the conversation has all. */
const INPUT_KEPT = 2000;

/** False: the receipt was closed by somebody who thought this process dead. */
export async function closeReceipt(
  tx: SystemTx,
  runId: string,
  { status, output, error, at }: Outcome,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('task_runs')
    .set({
      status,
      output,
      error,
      finished_at: at,
      lease_until: null,
      input: sql<string | null>`left(input, ${INPUT_KEPT})`,
    })
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
    .select([
      'run.id',
      'run.task_id',
      'run.user_id',
      'run.source',
      'run.tries',
      'run.started_at',
      'task.name',
      'task.agent_id',
    ])
    .where('run.status', '=', 'running')
    .where('run.lease_until', '<', now)
    // In one order, since what a result starts is written down one user at a time.
    .orderBy('run.user_id')
    .limit(limit)
    .forNoKeyUpdate(['run', 'task'])
    .skipLocked()
    .execute();

/**
 * What the agent made of a run, by its own log, whoever asked for it; undefined: nothing is known of it here. A run is a
 * conversation of its own.
 */
export async function agentsAnswer(
  tx: SystemTx,
  run: { id: string; task_id: string; agent_id: string },
): Promise<{ isOpen: boolean; outcome: string | null; reason: string | null; output: string | null } | undefined> {
  const { rows } = await sql<{
    is_open: boolean;
    outcome: string | null;
    reason: string | null;
    output: string | null;
  }>`
    select s.status <> 'idle' as is_open, ended.data ->> 'outcome' as outcome, ended.data ->> 'reason' as reason,
      said.content as output
    from agent_sessions s
    left join lateral (select data from agent_events
      where session_id = s.id and type = 'run_ended' order by seq desc limit 1) ended on true
    left join lateral (select data ->> 'content' as content from agent_events
      where session_id = s.id and type = 'assistant' and data ->> 'content' <> '' order by seq desc limit 1) said on true
    where s.agent_id = ${run.agent_id} and s.channel = 'task' and s.key = ${`${run.task_id}:${run.id}`}`.execute(tx);
  return rows[0] && { ...rows[0], isOpen: rows[0].is_open };
}

/** Whoever writes to a task and to its runs locks the task first, as whoever deletes it does. */
export const lockTask = (tx: SystemTx, taskId: string) =>
  tx.selectFrom('scheduled_tasks').select('id').where('id', '=', taskId).forNoKeyUpdate().execute();

/** Users take turns here, too; `busy` tells how many of each user's are being asked by this process. */
export async function takeHeartbeats(
  tx: SystemTx,
  now: Date,
  { places, perUser, busy }: { places: number; perUser: number; busy: ReadonlyMap<string, number> },
) {
  const { rows } = await sql<{ agent_id: string; user_id: string }>`
    select agent_id, user_id from (
      select agent_id, user_id, next_heartbeat, row_number() over (partition by user_id order by next_heartbeat) as place
      from heartbeats where enabled and next_heartbeat <= ${now}
    ) due where place <= ${perUser} order by place, next_heartbeat limit ${places + busy.size * perUser}`.execute(tx);
  const taken = new Map<string, number>(busy);
  const chosen = rows.filter(({ user_id }) => {
    const own = (taken.get(user_id) ?? 0) + 1;
    if (own > perUser) return false;
    taken.set(user_id, own);
    return true;
  });
  if (chosen.length === 0) return [];
  const ids = chosen.slice(0, places).map(({ agent_id }) => agent_id);
  return tx
    .selectFrom('heartbeats')
    .select(['agent_id', 'user_id', 'seconds'])
    .where('agent_id', 'in', ids)
    .where('enabled', '=', true)
    .where('next_heartbeat', '<=', now)
    .forUpdate()
    .skipLocked()
    .execute();
}

export const moveHeartbeat = (tx: SystemTx, agentId: string, last: Date, next: Date) =>
  tx
    .updateTable('heartbeats')
    .set({ last_heartbeat: last, next_heartbeat: next })
    .where('agent_id', '=', agentId)
    .execute();
