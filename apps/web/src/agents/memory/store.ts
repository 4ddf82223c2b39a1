import type { UserTx } from '@troupe/db';
import { sql } from 'kysely';

/** How an agent's memory stands, as the platform has it. `elsewhere`: a program of its own keeps it, and is asked. */

export interface CareRow {
  memories: number;
  embedded: number;
  meaningNote: string | null;
  factsNote: string | null;
  elsewhere: boolean;
}

export async function readCare(
  tx: UserTx,
  { agentId, scope, model }: { agentId: string; scope: string; model: string | null },
): Promise<CareRow> {
  const { rows } = await sql<CareRow>`select
    (select count(*)::integer from agent_memory where scope = ${scope} and expires_at > now()) as memories,
    (select count(*)::integer from agent_memory m join agent_memory_vectors v on v.memory_id = m.id
      join agent_memory_models s on s.scope = m.scope and s.model = v.model and s.dimension = v.dimension
      where m.scope = ${scope} and m.expires_at > now() and v.model = ${model} and v.made_of = m.updated_at) as embedded,
    (select note from agent_memory_models where scope = ${scope} and model = ${model}) as "meaningNote",
    (select facts_note from agent_memory_care where agent_id = ${agentId}) as "factsNote",
    coalesce((select elsewhere from agent_memory_care where agent_id = ${agentId}), false)
      and ${scope} not like 'team:%' as elsewhere`.execute(tx);
  return rows[0]!;
}

export interface FactRow {
  id: string;
  content: string;
  at: string;
  conversationId: string;
  message: number;
  conversation: string | null;
  contradicts: { id: string; content: string; at: string }[];
}

/** Facts that were taken out of conversations, the newest first, each with what it contradicts. */
export async function listFacts(tx: UserTx, scope: string, most: number, id?: string): Promise<FactRow[]> {
  const { rows } = await sql<FactRow>`select m.id, m.content, iso_text(m.created_at) as at,
      m.source_session as "conversationId", m.source_seq as message,
      (select agent_conversation_json(s) ->> 'title' from agent_sessions s where s.id = m.source_session) as conversation,
      coalesce((select json_agg(json_build_object('id', o.id, 'content', o.content, 'at', iso_text(o.created_at))
        order by o.created_at, o.id) from agent_memory o
        where o.scope = m.scope and o.id = any(m.disputes) and o.expires_at > now()), '[]') as contradicts
    from agent_memory m where m.scope = ${scope} and m.source_session is not null and m.expires_at > now()
      and (${id ?? null}::text is null or m.id = ${id ?? null})
    order by m.created_at desc, m.id limit ${most}`.execute(tx);
  return rows;
}

export const forgetAll = (tx: UserTx, scope: string, ids: readonly string[]) =>
  sql`delete from agent_memory where scope = ${scope} and id = any(${ids}::text[])`.execute(tx);

/** There is nothing to decide about it any more. */
export const settle = (tx: UserTx, scope: string, id: string) =>
  sql`update agent_memory set disputes = null where scope = ${scope} and id = ${id}`.execute(tx);

/** A model that was given up is asked again when it is chosen again. */
export const chosenAnew = (tx: UserTx, scope: string, model: string | null) =>
  sql`update agent_memory_models set changes = 0, note = null where scope = ${scope} and model = ${model}`.execute(tx);
