import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';
import type { Shares } from './store.ts';

interface Waiting {
  runs: Awaited<ReturnType<typeof begin>>;
  /** Others wait as well. */
  left: boolean;
}

/**
 * Takes what waits for its turn: for each task the oldest, while no run of it is under way, so that a task works off what
 * arrives in its order. Users take turns as they do for what is due.
 */
export async function takeWaiting(
  tx: SystemTx,
  now: Date,
  { places, reserved, perUser, leaseUntil }: Omit<Shares, 'busy'> & { leaseUntil: Date },
): Promise<Waiting> {
  const { rows } = await sql<{ id: string; rank: number }>`
    with users as (
      select waiting.user_id,
        (select count(*)::int from task_runs run where run.user_id = waiting.user_id and run.status = 'running') as busy
      from (select distinct user_id from task_runs where status = 'waiting') waiting
    )
    select run.id, users.busy + run.place as rank
    from users cross join lateral (
      select id, due_at, row_number() over (order by due_at, id)::int as place from (
        select distinct on (waiting.task_id) waiting.id, waiting.due_at
        from task_runs waiting join scheduled_tasks task on task.id = waiting.task_id and task.enabled
        where waiting.user_id = users.user_id and waiting.status = 'waiting'
          and not exists (select from task_runs other where other.task_id = waiting.task_id and other.status = 'running')
        order by waiting.task_id, waiting.due_at, waiting.id
      ) first
      order by due_at, id limit greatest(${perUser}::int - users.busy, 0)
    ) run
    order by rank, run.due_at, run.id limit ${places}`.execute(tx);
  const chosen = rows.filter(({ rank }, index) => rank === 1 || index < places - reserved).map(({ id }) => id);
  const runs = chosen.length === 0 ? [] : await begin(tx, chosen, now, leaseUntil);
  if (runs.length > 0)
    await tx
      .updateTable('scheduled_tasks')
      .set({ last_run: now })
      .where(
        'id',
        'in',
        runs.map(({ task_id }) => task_id),
      )
      .execute();
  return { runs, left: await isWaiting(tx) };
}

/** Somebody may have taken one, or be deleting its task, in between: then it is not there. */
const begin = (tx: SystemTx, ids: string[], now: Date, leaseUntil: Date) =>
  tx
    .updateTable('task_runs as run')
    .from('scheduled_tasks as task')
    .set({ status: 'running', started_at: now, lease_until: leaseUntil })
    .whereRef('task.id', '=', 'run.task_id')
    .where('run.id', 'in', (query) =>
      query
        .selectFrom('task_runs as waiting')
        .innerJoin('scheduled_tasks as own', 'own.id', 'waiting.task_id')
        .select('waiting.id')
        .where('waiting.id', 'in', ids)
        .where('waiting.status', '=', 'waiting')
        .forNoKeyUpdate(['waiting', 'own'])
        .skipLocked(),
    )
    .returning(['run.id', 'run.task_id', 'run.user_id', 'run.source', 'run.input'])
    .returning(['task.agent_id', 'task.name', 'task.prompt'])
    .execute();

const isWaiting = async (tx: SystemTx): Promise<boolean> =>
  (await tx
    .selectFrom('task_runs as run')
    .innerJoin('scheduled_tasks as task', 'task.id', 'run.task_id')
    .select('run.id')
    .where('run.status', '=', 'waiting')
    .where('task.enabled', '=', true)
    .limit(1)
    .executeTakeFirst()) !== undefined;

/** Says that their process is alive. */
export const keepRuns = (tx: SystemTx, ids: string[], leaseUntil: Date) =>
  tx
    .updateTable('task_runs')
    .set({ lease_until: leaseUntil })
    .where('id', 'in', ids)
    .where('status', '=', 'running')
    .execute();

/** Lets it wait for its turn again: asked under the same id, the agent goes on with what it has of it. */
export const waitAgain = (tx: SystemTx, id: string) =>
  tx
    .updateTable('task_runs')
    .set({ status: 'waiting', lease_until: null, tries: sql<number>`tries + 1` })
    .where('id', '=', id)
    .where('status', '=', 'running')
    .execute();

/** Deliveries are remembered so long. */
export const forgetDeliveries = (tx: SystemTx) =>
  sql`delete from task_deliveries where at < clock_timestamp() - interval '7 days'`.execute(tx);
