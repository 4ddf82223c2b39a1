import type { Database } from '@troupe/db';
import { sql } from 'kysely';

/** What all processes together have to do. Counted by indexes of what is under way, so that it costs the same with a million agents. */
export async function countWork(db: Database): Promise<Work> {
  const { rows } = await sql<Work>`select
    (select count(*)::int from scheduled_tasks where enabled and next_run <= clock_timestamp()) as tasks_due,
    coalesce((select extract(epoch from clock_timestamp() - min(next_run))::float8 from scheduled_tasks
      where enabled and next_run <= clock_timestamp()), 0) as task_lag_seconds,
    (select count(*)::int from task_runs where status = 'running') as task_runs_under_way,
    (select count(*)::int from agent_sessions where status = 'open') as runs_open,
    (select count(*)::int from agent_sessions where status = 'open' and lease_owner is not null
      and lease_until >= clock_timestamp()) as leases_held,
    (select count(*)::int from agent_followers where until >= clock_timestamp()) as followers,
    pg_total_relation_size('blob_chunks')::float8 as blob_bytes,
    (select count(*)::int from webhook_deliveries where status = 'pending') as webhook_deliveries_pending`.execute(
    db.system,
  );
  return rows[0]!;
}

export type Work = Record<
  | 'tasks_due'
  | 'task_lag_seconds'
  | 'task_runs_under_way'
  | 'runs_open'
  | 'leases_held'
  | 'followers'
  | 'blob_bytes'
  | 'webhook_deliveries_pending',
  number
>;
