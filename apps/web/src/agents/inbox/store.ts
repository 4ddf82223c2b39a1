import type { Question, WaitingPayment } from '@troupe/contract';
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

interface PaymentRow extends Omit<WaitingPayment, 'amount'> {
  units: bigint;
}

/** What the own agents ask to pay, the oldest first. One of an agent that is gone cannot be decided any more. */
export async function readPayments(tx: UserTx, limit: number): Promise<PaymentRow[]> {
  const { rows } = await sql<PaymentRow>`
    select p.id, p.agent_id as "agentId", a.name as "agentName", p.units, p.currency, p.recipient, p.endpoint, p.method,
      iso_text(p.created_at) as "createdAt"
    from agent_payments p join agents a on a.id = p.agent_id
    where p.status = 'approval' order by p.created_at, p.id limit ${limit}`.execute(tx);
  return rows;
}

const MARKED = ['item', 'state', 'until', 'words', 'task_id', 'marked_at'] as const;

export type MarkRow = Awaited<ReturnType<typeof readMarks>>[number];

/** The newest first; a trigger keeps them few. */
export const readMarks = (tx: UserTx) =>
  tx.selectFrom('inbox_marks').select(MARKED).orderBy('marked_at', 'desc').orderBy('item').execute();

export const putMark = (tx: UserTx, userId: string, { item, ...rest }: MarkRow) =>
  tx
    .insertInto('inbox_marks')
    .values({ user_id: userId, item, ...rest })
    .onConflict((conflict) => conflict.columns(['user_id', 'item']).doUpdateSet(rest))
    .execute();

export const hasTask = async (tx: UserTx, id: string): Promise<boolean> =>
  (await tx.selectFrom('scheduled_tasks').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

/** Held until the transaction ends: of two who undo, one does. */
export const lockMark = (tx: UserTx, item: string) =>
  tx.selectFrom('inbox_marks').select(MARKED).where('item', '=', item).forUpdate().executeTakeFirst();

export async function removeMark(tx: UserTx, item: string): Promise<void> {
  await tx.deleteFrom('inbox_marks').where('item', '=', item).execute();
}

/** A notice that is done with is read, so that the next of its kind is told. */
export async function readNotice(tx: UserTx, id: bigint, now: Date): Promise<void> {
  await tx.updateTable('notices').set({ read_at: now }).where('id', '=', id).where('read_at', 'is', null).execute();
}

/** Unread again, unless the same was told anew meanwhile. */
export async function unreadNotice(tx: UserTx, id: bigint): Promise<void> {
  await sql`select unread_notice(${id})`.execute(tx);
}
