import { sql, type RawBuilder } from 'kysely';
import type { UserTx } from '@troupe/db';
import { inAnyCase, newId } from '@troupe/kernel';
import {
  AROUND,
  SEARCHED_MESSAGES,
  type Branch,
  type ConversationStore,
  type Found,
  type GivenInput,
  type Session,
} from './conversations.ts';
import { storable, storableJson as json } from './pg-values.ts';

const inputsOf =
  (rows: <T>(query: RawBuilder<T>) => Promise<T[]>, agentId: string): ConversationStore['inputs'] =>
  async ({ channel, limit, offset, keys = '', key = null }) => {
    const from = sql`from agent_events e join agent_sessions s on s.id = e.session_id
        where e.agent_id = ${agentId} and e.type = 'user' and not e.copied and s.channel = ${channel}
          and starts_with(s.key, ${keys}) and (${key}::text is null or s.key = ${key})`;
    const inputs = await rows(sql<GivenInput>`select e.session_id as "sessionId", e.seq ${from}
        order by e.at desc, e.seq desc limit ${limit} offset ${offset}`);
    const [counted] = await rows(sql<{ total: number }>`select count(*)::int as total ${from}`);
    return { inputs, total: counted?.total ?? 0 };
  };

export function pgConversations(scoped: UserTx, userId: string, agentId: string): ConversationStore {
  const rows = async <T>(query: RawBuilder<T>): Promise<T[]> => (await query.execute(scoped)).rows;
  const family = (id: string) => sql`agent_id = ${agentId} and coalesce(root_id, id) = (
    select coalesce(root_id, id) from agent_sessions where id = ${id} and agent_id = ${agentId})`;

  return {
    session: async (id) =>
      (
        await rows(sql<{ value: Session }>`select agent_conversation_json(s) as value from agent_sessions s
          where id = ${id} and agent_id = ${agentId}`)
      )[0]?.value,
    sessions: async ({ limit, offset, keys = '', key = null, latest = false, archived = null }) => {
      const wanted = sql`agent_id = ${agentId} and last_seq > 0 and starts_with(key, ${keys})
        and (${key}::text is null or key = ${key}) and (${archived}::boolean is null or archived = ${archived})`;
      const from = latest
        ? sql`(select distinct on (coalesce(root_id, id)) * from agent_sessions where ${wanted}
            order by coalesce(root_id, id), updated_at desc, id)`
        : sql`(select * from agent_sessions where ${wanted})`;
      // Titles are looked up for the page alone.
      const found = await rows(sql<{
        value: Session;
      }>`select agent_conversation_json(page::agent_sessions) as value from (
        select * from ${from} s order by ${latest ? sql`pinned desc,` : sql``} updated_at desc, id
        limit ${limit} offset ${offset}) page order by ${latest ? sql`pinned desc,` : sql``} updated_at desc, id`);
      return found.map((row) => row.value);
    },
    async describe(id, { title, pinned, archived }) {
      const changed =
        await rows(sql`update agent_sessions set title = coalesce(${title === undefined ? null : storable(title)}, title),
        pinned = coalesce(${pinned ?? null}::boolean, pinned), archived = coalesce(${archived ?? null}::boolean, archived)
        where ${family(id)} returning id`);
      return changed.length > 0;
    },
    removeConversation: async (id) =>
      (await rows(sql`delete from agent_sessions where ${family(id)} returning id`)).length > 0,
    async branch(id, { at, key, closing }) {
      const [made] = await rows(sql<{ id: string | null }>`
        select agent_branch(${agentId}, ${userId}, ${id}, ${at}, ${newId()}, ${key}, ${json(closing)}::jsonb) as id`);
      return made?.id ?? undefined;
    },
    branches: (id) =>
      rows(sql<Branch>`select id, branch_of as "branchOf", branch_at as "branchAt", iso_text(updated_at) as "updatedAt"
        from agent_sessions where ${family(id)} order by created_at, id`),
    inputs: inputsOf(rows, agentId),
    search: (words, { limit, keys = '' }) => {
      const needle = inAnyCase(storable(words));
      return rows(sql<Found>`
        select m.session_id as "sessionId", m.seq, iso_text(m.at) as at, m.type as role,
          coalesce(agent_conversation_json(s) ->> 'title', '') as title,
          substr(m.content, greatest(1, strpos(m.content, substring(m.content from ${needle})) - ${AROUND.before}), ${AROUND.length}) as text
        from (select session_id, seq, at, type, data ->> 'content' as content from agent_events
            where agent_id = ${agentId} and type in ('user', 'assistant') and not copied
            order by at desc, seq desc limit ${SEARCHED_MESSAGES}) m
          join agent_sessions s on s.id = m.session_id
        where m.content ~ ${needle} and starts_with(s.key, ${keys}) order by m.at desc, m.seq desc limit ${limit}`);
    },
  };
}
