import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

export interface FileTrigger {
  id: string;
  task_id: string;
  user_id: string;
  agent_id: string;
  pattern: string;
  /** By path; null: it was not looked yet. */
  seen: Record<string, string> | null;
  seen_at: Date | null;
  look_at: Date;
  created_at: Date;
}

/** Those that it is time to look for; nobody else does until the next time. Users take turns. */
export async function takeDue(
  tx: SystemTx,
  { places, perUser, everyMs }: { places: number; perUser: number; everyMs: number },
): Promise<FileTrigger[]> {
  const { rows } = await sql<FileTrigger>`
    with due as (
      select trigger.id, row_number() over (partition by trigger.user_id order by look_at nulls first, trigger.id) as place
      from task_triggers trigger join scheduled_tasks task on task.id = trigger.task_id and task.enabled
      join agents agent on agent.id = trigger.agent_id and agent.status = 'running'
      where trigger.kind = 'file' and trigger.enabled and coalesce(look_at, '-infinity') <= clock_timestamp()
    ), taken as (
      select id from task_triggers where id in (select id from due where place <= ${perUser} order by place, id limit ${places})
        and coalesce(look_at, '-infinity') <= clock_timestamp()
      for update skip locked
    )
    update task_triggers trigger set look_at = date_trunc('milliseconds', clock_timestamp() + ${everyMs} * interval '1 millisecond')
    from taken where trigger.id = taken.id
    returning trigger.id, trigger.task_id, trigger.user_id, trigger.agent_id, trigger.pattern, trigger.seen,
      trigger.seen_at, trigger.look_at, trigger.created_at`.execute(tx);
  return rows;
}

/** False: somebody looks anew meanwhile, or it is gone. */
export async function noteSeen(tx: SystemTx, { id, look_at }: FileTrigger, seen: Record<string, string>) {
  const { numUpdatedRows } = await tx
    .updateTable('task_triggers')
    .set({ seen: JSON.stringify(seen), seen_at: sql<Date>`clock_timestamp()`, problem: null })
    .where('id', '=', id)
    .where('look_at', '=', look_at)
    .where('enabled', '=', true)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const MOST_PROBLEM = 500;

export const noteProblem = (tx: SystemTx, { id, look_at }: FileTrigger, problem: string) =>
  tx
    .updateTable('task_triggers')
    .set({ problem: problem.slice(0, MOST_PROBLEM) })
    .where('id', '=', id)
    .where('look_at', '=', look_at)
    .execute();

/** A file that came while tasks of the agent ran may be their work: it counts as started by them. */
export async function depthDuring(tx: SystemTx, agentId: string, { from, to }: { from: number; to: number }) {
  const { rows } = await sql<{ depth: number }>`
    select coalesce(max(run.depth) + 1, 0) as depth from task_runs run join scheduled_tasks task on task.id = run.task_id
    where task.agent_id = ${agentId} and run.status <> 'waiting' and run.status <> 'skipped'
      and run.started_at <= ${new Date(to)} and coalesce(run.finished_at, 'infinity') >= ${new Date(from)}`.execute(tx);
  return rows[0]?.depth ?? 0;
}

export const takeIn = (tx: SystemTx, { id, task_id }: FileTrigger, input: string, depth: number) =>
  sql`select task_take_in(${task_id}, ${id}, 'file', null, ${input}, ${depth}::integer)`.execute(tx);
