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
    from agent_waiting_calls(array(select id from agent_sessions where status = 'waiting')) e
    join agents a on a.id = e.agent_id
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
