import type { SystemTx, UserTx } from '@troupe/db';
import { sql } from 'kysely';

export interface SharedMessage {
  role: 'user' | 'assistant';
  text: string;
  at: string;
}

interface NewShare {
  id: string;
  user_id: string;
  agent_id: string;
  session_id: string;
  token_hash: string;
  title: string;
  agent_name: string;
  messages: SharedMessage[];
  created_at: Date;
}

const COLUMNS = ['id', 'session_id', 'title', 'created_at'] as const;

export interface ShareRow {
  id: string;
  session_id: string;
  title: string;
  created_at: Date;
}

export async function insertShare(tx: UserTx, { messages, ...share }: NewShare): Promise<void> {
  await tx
    .insertInto('conversation_shares')
    .values({ ...share, messages: sql`${JSON.stringify(messages)}::jsonb` })
    .execute();
}

/** How many the agent has; two at once wait for each other until the transaction ends. */
export async function countShares(tx: UserTx, agentId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`shares:${agentId}`}, 0))`.execute(tx);
  const { count } = await tx
    .selectFrom('conversation_shares')
    .select((on) => on.fn.countAll<bigint>().as('count'))
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export const listShares = (tx: UserTx, agentId: string, limit: number): Promise<ShareRow[]> =>
  tx
    .selectFrom('conversation_shares')
    .select(COLUMNS)
    .where('agent_id', '=', agentId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();

export async function deleteShare(tx: UserTx, agentId: string, id: string): Promise<boolean> {
  const gone = await tx
    .deleteFrom('conversation_shares')
    .where('agent_id', '=', agentId)
    .where('id', '=', id)
    .executeTakeFirst();
  return gone.numDeletedRows > 0n;
}

/**
 * Whoever has the link reads it, so nobody is known to ask for. As the text that is told: two megabytes of short messages
 * take longer to read and write again than all else about it.
 */
export async function findShare(tx: SystemTx, tokenHash: string): Promise<string | undefined> {
  const { rows } = await sql<{ told: string }>`
    select json_build_object('title', title, 'agent', agent_name, 'createdAt', iso_text(created_at), 'messages', messages)::text as told
    from conversation_shares where token_hash = ${tokenHash}`.execute(tx);
  return rows[0]?.told;
}
