import type { Question } from '@troupe/contract';
import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

export interface WaitingCall {
  id: string;
  agentId: string;
  agentName: string;
  sessionId: string;
  tool: string;
  args: string;
  question?: Question;
  at: string;
}

/** Arguments are read up to here; a page that shows more of one call helps nobody decide. */
const MOST_CHARACTERS = 20_000;

/** Calls that wait in agents whose sessions are here, the oldest first. Rows are the user's own by row-level security. */
export async function readWaiting(tx: UserTx, limit: number): Promise<WaitingCall[]> {
  const { rows } = await sql<Omit<WaitingCall, 'question'> & { question: Question | null }>`
    select e.data ->> 'approvalId' as id, e.agent_id as "agentId", a.name as "agentName", e.session_id as "sessionId",
      e.data ->> 'tool' as tool, left(e.data ->> 'args', ${MOST_CHARACTERS}) as args, e.data -> 'question' as question,
      iso_text(e.at) as at
    from agent_waiting_calls(array(select id from agent_sessions where status = 'waiting')) e
    join agents a on a.id = e.agent_id
    order by e.at, e.seq limit ${limit}`.execute(tx);
  return rows.map(({ question, ...rest }) => ({ ...rest, ...(question && { question }) }));
}

export interface WaitingVisitor {
  id: string;
  agentId: string;
  agentName: string;
  sessionId: string;
  state: 'waiting' | 'person';
  widgetTitle: string;
  origin: string;
  words: string;
  at: string;
}

/** Visitors of widgets who talk with a person, or wait for one, the oldest first. */
export async function readVisitors(tx: UserTx, limit: number): Promise<WaitingVisitor[]> {
  const { rows } = await sql<WaitingVisitor>`
    select v.id, v.agent_id as "agentId", a.name as "agentName", v.session_id as "sessionId", v.state, v.origin, v.words,
      w.title as "widgetTitle", iso_text(v.waiting_since) as at
    from widget_visitors v join widgets w on w.id = v.widget_id join agents a on a.id = v.agent_id
    where v.state <> 'agent' and v.session_id is not null and w.removed_at is null
    order by v.waiting_since, v.id limit ${limit}`.execute(tx);
  return rows;
}
