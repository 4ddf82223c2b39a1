import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

const COLUMNS = [
  'id',
  'widget_id',
  'agent_id',
  'session_id',
  'state',
  'waiting_since',
  'words',
  'origin',
  'seen_at',
] as const;

export type VisitorRow = NonNullable<Awaited<ReturnType<typeof findVisitor>>>;

export const findVisitor = (tx: UserTx, widgetId: string, id: string) =>
  tx
    .selectFrom('widget_visitors')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('widget_id', '=', widgetId)
    .executeTakeFirst();

interface Seen {
  id: string;
  widget_id: string;
  user_id: string;
  agent_id: string;
  words: string;
  origin: string;
  seen_at: Date;
}

/** Who says something is there from then on. Undefined: the id is another widget's. */
export const seeVisitor = (tx: UserTx, seen: Seen) =>
  tx
    .insertInto('widget_visitors')
    .values({ ...seen, created_at: seen.seen_at })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ words: seen.words, origin: seen.origin, seen_at: seen.seen_at })
        .where('widget_visitors.widget_id', '=', seen.widget_id),
    )
    .returning(COLUMNS)
    .executeTakeFirst();

/** The conversation; the first one that is written down stays. */
export async function setSession(tx: UserTx, id: string, sessionId: string): Promise<void> {
  await tx
    .updateTable('widget_visitors')
    .set({ session_id: sessionId })
    .where('id', '=', id)
    .where('session_id', 'is', null)
    .execute();
}

/** Its conversation is gone: the next one is another. */
export async function forgetSession(tx: UserTx, id: string, sessionId: string): Promise<void> {
  await tx
    .updateTable('widget_visitors')
    .set({ session_id: null })
    .where('id', '=', id)
    .where('session_id', '=', sessionId)
    .execute();
}

/** Conversations of an agent that are worked on now. */
export async function countOpen(tx: UserTx, agentId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('agent_sessions')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('agent_id', '=', agentId)
    .where('status', '=', 'open')
    .where('channel', '=', 'widget')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Answers whether it was another one. */
export async function setState(
  tx: UserTx,
  id: string,
  state: VisitorRow['state'],
  waitingSince: Date | null,
): Promise<boolean> {
  const changed = await tx
    .updateTable('widget_visitors')
    .set({ state, waiting_since: waitingSince })
    .where('id', '=', id)
    .where('state', '!=', state)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}

/** Those who wait first. */
export const listVisitors = (tx: UserTx, agentId: string, limit: number) =>
  tx
    .selectFrom('widget_visitors')
    .innerJoin('widgets', 'widgets.id', 'widget_visitors.widget_id')
    .select(['widgets.title'])
    .select(COLUMNS.map((column) => `widget_visitors.${column}` as const))
    .where('widget_visitors.agent_id', '=', agentId)
    .where('widgets.removed_at', 'is', null)
    .orderBy(sql`widget_visitors.state <> 'agent'`, 'desc')
    .orderBy('widget_visitors.seen_at', 'desc')
    .limit(limit)
    .execute();

export const findOfAgent = (tx: UserTx, agentId: string, id: string) =>
  tx
    .selectFrom('widget_visitors')
    .innerJoin('widgets', 'widgets.id', 'widget_visitors.widget_id')
    .select(['widgets.title'])
    .select(COLUMNS.map((column) => `widget_visitors.${column}` as const))
    .where('widget_visitors.agent_id', '=', agentId)
    .where('widget_visitors.id', '=', id)
    .where('widgets.removed_at', 'is', null)
    .executeTakeFirst();

export type ShownVisitor = NonNullable<Awaited<ReturnType<typeof findOfAgent>>>;

/** A widget whose conversations are looked through: all of them once it is removed. */
export const widgetToClear = (tx: UserTx, id: string) =>
  tx
    .selectFrom('widgets')
    .select(['id', 'agent_id', 'retention_days', 'removed_at'])
    .where('id', '=', id)
    .executeTakeFirst();

/** Who was last seen before that, or before the newest so many, the longest gone first; null: all. */
export async function visitorsBefore(
  tx: UserTx,
  widgetId: string,
  kept: { since: Date; newest: number } | null,
  limit: number,
) {
  const of = tx.selectFrom('widget_visitors').where('widget_id', '=', widgetId);
  let found = of.select(['id', 'session_id']);
  if (kept) {
    const beyond = of.select('seen_at').orderBy('seen_at', 'desc').offset(kept.newest).limit(1);
    found = found.where(({ or, eb }) => or([eb('seen_at', '<', kept.since), eb('seen_at', '<=', beyond)]));
  }
  return found.orderBy('seen_at').limit(limit).execute();
}

export async function dropVisitor(tx: UserTx, id: string): Promise<void> {
  await tx.deleteFrom('widget_visitors').where('id', '=', id).execute();
}

/** The conversation of an agent that does not run, so that nobody works on it. False: it runs, or keeps them itself. */
export async function dropConversation(tx: UserTx, agentId: string, sessionId: string): Promise<boolean> {
  const { rows } = await sql<{ stands: boolean }>`
    with gone as (
      delete from agent_sessions s using agents a
      where a.id = ${agentId} and a.driver is null and a.status <> 'running' and s.agent_id = a.id
        and coalesce(s.root_id, s.id) = ${sessionId}
    )
    select exists (select from agents where id = ${agentId} and driver is null and status <> 'running') as stands`.execute(
    tx,
  );
  return rows[0]?.stands ?? false;
}

export async function dropWidget(tx: UserTx, id: string): Promise<void> {
  await tx.deleteFrom('widgets').where('id', '=', id).execute();
}
