import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

export interface WaitingCall {
  id: string;
  agentId: string;
  agentName: string;
  sessionId: string;
  tool: string;
  args: string;
  at: string;
}

/** Arguments are read up to here; a page that shows more of one call helps nobody decide. */
const MOST_CHARACTERS = 20_000;

/** Calls that wait in agents whose sessions are here, the oldest first. Rows are the user's own by row-level security. */
export async function readWaiting(tx: UserTx, limit: number): Promise<WaitingCall[]> {
  const { rows } = await sql<WaitingCall>`
    select e.data ->> 'approvalId' as id, e.agent_id as "agentId", a.name as "agentName", e.session_id as "sessionId",
      e.data ->> 'tool' as tool, left(e.data ->> 'args', ${MOST_CHARACTERS}) as args, iso_text(e.at) as at
    from agent_sessions s join agents a on a.id = s.agent_id
    join agent_events e on e.session_id = s.id and e.type = 'approval_requested' and e.seq > s.compacted_to
    where s.status = 'waiting' and not exists (
      select from agent_events d where d.session_id = e.session_id and d.seq > e.seq and (d.type = 'run_ended'
        or (d.type = 'approval_decided' and d.data ->> 'approvalId' = e.data ->> 'approvalId')))
    order by e.at, e.seq limit ${limit}`.execute(tx);
  return rows;
}

/** Running agents that keep their sessions themselves. */
export async function agentsElsewhere(tx: UserTx, limit: number): Promise<{ id: string; name: string }[]> {
  return tx
    .selectFrom('agents')
    .select(['id', 'name'])
    .where('driver', 'is not', null)
    .where('status', '=', 'running')
    .orderBy('updated_at', 'desc')
    .limit(limit)
    .execute();
}
