import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

export interface Totals {
  agents: bigint;
  running: bigint;
  stopped: bigint;
  failed: bigint;
  last_deployment: Date | null;
  messages: bigint;
  messages_today: bigint;
  memories: bigint;
  memory_bytes: bigint;
  events: bigint;
  calls: bigint;
  failures: bigint;
  latency_ms: bigint;
}

/** Everything that is counted, in one round trip. Rows are the user's own by row-level security. */
export async function readTotals(tx: UserTx, dayStart: Date, monthStart: string): Promise<Totals> {
  const { rows } = await sql<Totals>`
    select a.*, e.*, m.*, u.* from
      (select count(*) as agents, count(*) filter (where status = 'running') as running,
        count(*) filter (where status = 'stopped') as stopped,
        count(*) filter (where status in ('error', 'failed')) as failed, max(created_at) as last_deployment from agents) a,
      (select count(*) as events, count(*) filter (where type in ('user', 'assistant')) as messages,
        count(*) filter (where type in ('user', 'assistant') and at >= ${dayStart}) as messages_today from agent_events where not copied) e,
      (select count(*) as memories, coalesce(sum(octet_length(content)), 0)::bigint as memory_bytes from agent_memory) m,
      (select coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(failures), 0)::bigint as failures,
        coalesce(sum(latency_ms), 0)::bigint as latency_ms from usage_daily where day >= ${monthStart}::date) u`.execute(
    tx,
  );
  return rows[0]!;
}

export interface Day {
  running: bigint;
  failed: bigint;
  runs: bigint;
  failed_runs: bigint;
  unread: string[];
  calls: bigint;
  tokens: bigint;
  cost_micros: bigint;
  sign_ins: bigint;
  devices: bigint;
  next: { name: string; at: string }[];
}

/** What the brief of a user is made of. */
export async function readDay(tx: UserTx, since: Date, until: Date): Promise<Day> {
  const { rows } = await sql<Day>`select
    (select count(*) from agents where status = 'running') as running,
    (select count(*) from agents where status in ('error', 'failed')) as failed,
    (select count(*) from task_runs where started_at >= ${since}) as runs,
    (select count(*) from task_runs where started_at >= ${since} and status = 'failed') as failed_runs,
    (select coalesce(array_agg(message), '{}') from (select message from notices where read_at is null order by id desc limit 5) n) as unread,
    used.*,
    (select count(*) from audit_log where created_at >= ${since} and action like 'sign-in%') as sign_ins,
    (select count(*) from devices where status = 'pending') as devices,
    (select coalesce(jsonb_agg(jsonb_build_object('name', name, 'at', iso_text(next_run)) order by next_run), '[]') from
      (select name, next_run from scheduled_tasks where enabled and next_run < ${until} order by next_run limit 5) t) as next
    from (select count(*) as calls, coalesce(sum(input_tokens + output_tokens), 0)::bigint as tokens,
      coalesce(sum(cost_micros), 0)::bigint as cost_micros from usage_logs where created_at >= ${since}) used`.execute(
    tx,
  );
  return rows[0]!;
}
