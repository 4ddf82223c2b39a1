import { bitsOf, bytesOf } from '@troupe/knowledge';
import { sql } from 'kysely';
import { afterAnswer, LOOKED_AT, MOST_CHANGES, MOST_CHARACTERS, UNKNOWN_MEANING } from './meaning.ts';
import type { MeaningState, MeaningStore, Unmeant } from './meaning.ts';
import type { Access } from './pg-access.ts';
import type { Memory, Near, Scope } from './memory.ts';

/** As an agent is shown it. */
export const SHOWN_MEMORY = sql`m.id, m.key, memory_said(m.content, m.source_session, m.created_at) as content, split_part(m.scope, ':', 1) as scope,
  iso_text(m.created_at) as "createdAt", iso_text(m.updated_at) as "updatedAt"`;

export function pgMeanings({ rows, first, scopeName, userId }: Access): MeaningStore {
  const meaning = async (scope: Scope, model: string): Promise<MeaningState> =>
    (await first(sql<MeaningState>`select dimension, changes, note from agent_memory_models
      where scope = ${scopeName(scope)} and model = ${model}`)) ?? UNKNOWN_MEANING;
  return {
    meaning,
    setMeaning: async (scope, model, { dimension, changes, note }) => {
      await rows(sql`insert into agent_memory_models (user_id, scope, model, dimension, changes, note)
        values (${userId}, ${scopeName(scope)}, ${model}, ${dimension}, ${changes}, ${note})
        on conflict (user_id, scope, model) do update set dimension = excluded.dimension, changes = excluded.changes,
          note = excluded.note`);
    },
    unmeant: (scope, { model, dimension, most }) =>
      rows(sql<Unmeant>`select m.id, left(coalesce(m.key || ': ', '') || m.content, ${MOST_CHARACTERS}) as text,
          m.updated_at::text as mark
        from agent_memory m where m.scope = ${scopeName(scope)} and m.expires_at > now() and not exists (
          select from agent_memory_vectors v where v.memory_id = m.id and v.model = ${model}
            and v.dimension = ${dimension}::integer and v.made_of = m.updated_at)
        order by m.updated_at desc, m.id limit ${most}`),
    keepMeanings: async (scope, model, given) => {
      await rows(sql`insert into agent_memory_vectors (memory_id, model, user_id, scope, dimension, made_of, bits, vector)
        select m.id, ${model}, ${userId}, m.scope, length(given.bits), m.updated_at, given.bits::bit varying,
          decode(given.bytes, 'hex')
        from unnest(${given.map(({ id }) => id)}::text[], ${given.map(({ mark }) => mark)}::text[],
          ${given.map(({ vector }) => bitsOf(vector))}::text[],
          ${given.map(({ vector }) => bytesOf(vector).toString('hex'))}::text[]) as given (id, mark, bits, bytes)
        join agent_memory m on m.id = given.id and m.updated_at = given.mark::timestamptz and m.scope = ${scopeName(scope)}
        on conflict (memory_id, model) do update set dimension = excluded.dimension, made_of = excluded.made_of,
          bits = excluded.bits, vector = excluded.vector`);
    },
    dropMeanings: async (scope, chosen) => {
      // Members of a team may have chosen different ones.
      const gone = (of: string) => sql`${sql.ref(`${of}.scope`)} = ${scopeName(scope)}
        and ${sql.ref(`${of}.model`)} is distinct from ${chosen} and not exists (select from agent_memory_care c
          where c.scope = ${sql.ref(`${of}.scope`)} and c.embeddings = ${sql.ref(`${of}.model`)})`;
      await rows(sql`delete from agent_memory_vectors v where ${gone('v')}`);
      await rows(sql`delete from agent_memory_models s where ${gone('s')}`);
    },
  };
}

interface NearRow extends Memory {
  vector: Buffer;
}

/** Memories whose signs differ least from the question's. A model that makes other numbers than before is noted. */
export async function nearestInPg(
  { rows, scopeName, now }: Access,
  meanings: Pick<MeaningStore, 'meaning' | 'setMeaning'>,
  { scope, near: { model, vector }, limit }: { scope: Scope; near: Near; limit: number },
): Promise<{ memory: Memory; vector: Buffer }[]> {
  const found = await rows(sql<NearRow>`select ${SHOWN_MEMORY}, near.vector from (
      select v.memory_id, v.made_of, v.vector from agent_memory_vectors v
      where v.scope = ${scopeName(scope)} and v.model = ${model} and v.dimension = ${vector.length}::integer
      order by bit_count(v.bits # ${bitsOf(vector)}::bit varying) limit ${limit * LOOKED_AT}) near
    join agent_memory m on m.id = near.memory_id and m.updated_at = near.made_of and m.expires_at > ${now()}`);
  if (found.length === 0) {
    const state = await meanings.meaning(scope, model);
    const next = state.dimension === null || state.changes > MOST_CHANGES ? state : afterAnswer(state, vector.length);
    if (next !== state) {
      await meanings.setMeaning(scope, model, next);
      await rows(sql`update agent_memory_care set meaning_due = true
        where scope = ${scopeName(scope)} and embeddings = ${model} and not meaning_due`);
    }
  }
  return found.map(({ vector: bytes, ...memory }) => ({ memory, vector: bytes }));
}
