import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

export interface PastCost {
  model: string;
  runs: number;
  low: number;
  high: number;
}

/** What the user's own tasks cost a run since that day, by the model of their agents: the cheapest task and the dearest. */
export async function pastCosts(tx: UserTx, userId: string, since: string): Promise<PastCost[]> {
  const { rows } = await sql<PastCost>`
    with spent as (
      select source_id as task_id, sum(cost_micros)::float8 / 1000000 as usd from usage_sources_daily
      where user_id = ${userId} and kind = 'task' and day >= ${since}::date group by 1
    ), ran as (
      select task_id, count(*)::integer as runs from task_runs
      where user_id = ${userId} and started_at >= ${since}::date and status = 'succeeded' group by 1
    )
    select a.model, sum(ran.runs)::integer as runs, min(spent.usd / ran.runs) as low, max(spent.usd / ran.runs) as high
    from spent join ran using (task_id)
    join scheduled_tasks t on t.id = task_id and t.user_id = ${userId}
    join agents a on a.id = t.agent_id and a.user_id = ${userId}
    where a.model is not null
    group by a.model order by a.model limit 50`.execute(tx);
  return rows;
}

const ALIKE = 1000;

/** Names of the user's agents that begin like this one. */
export async function namesLike(tx: UserTx, userId: string, name: string): Promise<string[]> {
  // A number at the end of a long name takes the place of its last letters.
  const start = Array.from(name.trim().toLowerCase()).slice(0, 40).join('');
  const { rows } = await sql<{ name: string }>`
    select name from agents where user_id = ${userId} and starts_with(lower(name), ${start}) limit ${ALIKE}`.execute(
    tx,
  );
  return rows.map((row) => row.name);
}
