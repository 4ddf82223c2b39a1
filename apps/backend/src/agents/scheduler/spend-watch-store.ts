import type { SystemTx } from '@troupe/db';
import { sql } from 'kysely';

interface Near {
  user_id: string;
  scope: 'user' | 'agent' | 'run' | 'team';
  subject: string;
  agent: string | null;
  used: bigint;
  limit_micros: bigint;
}

/** Caps of which that share is used, and whose owners do not know it yet. */
export async function nearCaps(tx: SystemTx, share: number, now: Date): Promise<Near[]> {
  const { rows } = await sql<Near>`
    select near.*, coalesce(agent.name, team.name) as agent from (
      select cap.user_id, cap.scope, cap.limit_micros, counter.used, counter.scope_id,
        cap.scope || ':' || counter.scope_id || ':' || iso_text(counter.since) as subject
      from spend_caps cap join spend_counters counter on counter.user_id = cap.user_id and counter.scope = cap.scope
        and cap.scope_id in (counter.scope_id, '*') and counter.since = spend_since(cap.period, ${now})
      where cap.limit_micros > 0 and counter.used >= cap.limit_micros * ${share}::numeric
    ) near left join agents agent on agent.id = near.scope_id and near.scope = 'agent'
    left join teams team on team.id = near.scope_id and near.scope = 'team'
    where not exists (select from notices where notices.user_id = near.user_id and kind = 'spend_cap_near' and notices.subject = near.subject)
    limit 100`.execute(tx);
  return rows;
}
