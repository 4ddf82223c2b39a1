import { newId } from '@troupe/kernel';
import { sql } from 'kysely';
import { fusedMemories, SPARE, type MeaningStore } from './meaning.ts';
import { nearestInPg, SHOWN_MEMORY } from './meaning-pg.ts';
import type { Access } from './pg-access.ts';
import { begun, storable, wanted } from './pg-values.ts';
import { searchWords } from './search-words.ts';
import type { Memory, MemoryStore, Scope } from './memory.ts';
import { PAGE_BYTES } from './store.ts';
import { TODOS_KEPT, type Todo, type TodoStore } from './todos.ts';

const memory = sql`id, key, content, split_part(scope, ':', 1) as scope, iso_text(created_at) as "createdAt", iso_text(updated_at) as "updatedAt"`;

/** By words, the best first. */
async function worded({ rows, now, scopeName }: Access, scope: Scope, query: string, limit: number): Promise<Memory[]> {
  const words = searchWords(query);
  if (words.length === 0) return [];
  const found = await rows(sql<Memory>`select ${SHOWN_MEMORY}
    from memory_search(${scopeName(scope)}, ${wanted(words)}, ${now()}, ${limit}) f
      join agent_memory m on m.id = f.id order by f.score desc, m.updated_at desc, m.id`);
  // Half a word, as somebody types it.
  return found.length > 0
    ? found
    : rows(sql<Memory>`select ${SHOWN_MEMORY} from agent_memory m, to_tsquery('simple', ${begun(words)}) as wanted
      where scope = ${scopeName(scope)} and expires_at > ${now()} and search @@ wanted
      order by updated_at desc, id limit ${limit}`);
}

/** What the agent remembers. */
export function memories(access: Access, meanings: Pick<MeaningStore, 'meaning' | 'setMeaning'>): MemoryStore {
  const { db, userId, now, rows, first, scopeName, scopeOwner } = access;
  return {
    remember: ({ scope, key, content }, { maxEntries, ttlDays }) =>
      db.asUser(userId, async (tx) => {
        const at = now();
        const expires = new Date(at.getTime() + ttlDays * 86_400_000);
        const kept = await sql<Memory>`
          insert into agent_memory (id, user_id, agent_id, scope, key, content, created_at, updated_at, expires_at)
          values (${newId()}, ${userId}, ${scopeOwner(scope)}, ${scopeName(scope)}, ${key === undefined ? null : storable(key)}, ${storable(content)}, ${at}, ${at}, ${expires})
          on conflict (user_id, scope, key) do update set content = excluded.content,
            updated_at = excluded.updated_at, expires_at = excluded.expires_at
          returning ${memory}`.execute(tx);
        await sql`delete from agent_memory where scope = ${scopeName(scope)} and (expires_at <= ${at} or id in (
          select id from agent_memory where scope = ${scopeName(scope)}
          order by updated_at desc, id offset ${maxEntries}))`.execute(tx);
        return kept.rows[0] as Memory;
      }),
    async recall({ scope, query, limit, offset = 0, near }) {
      if (query === undefined)
        // The size of a text is known without reading it.
        return rows(sql<Memory>`select ${memory} from (
          select p.*, sum(octet_length(content)) over (order by updated_at desc, id) - octet_length(content) as before
          from (select * from agent_memory where scope = ${scopeName(scope)} and expires_at > ${now()}
            order by updated_at desc, id limit ${limit} offset ${offset}) p) q
          where before < ${PAGE_BYTES} order by updated_at desc, id`);
      if (!near) return worded(access, scope, query, limit);
      const [words, found] = await Promise.all([
        worded(access, scope, query, limit * SPARE),
        nearestInPg(access, meanings, { scope, near, limit }),
      ]);
      return fusedMemories(words, found, { vector: near.vector, limit });
    },
    editMemory: (id, content, { ttlDays }) => {
      const at = now();
      return first(sql<Memory>`update agent_memory set content = ${storable(content)}, updated_at = ${at},
        expires_at = ${new Date(at.getTime() + ttlDays * 86_400_000)}
        where id = ${id} and scope in (${scopeName('agent')}, ${scopeName('team')}) returning ${memory}`);
    },
    forget: async (id) =>
      (await first(sql`delete from agent_memory where id = ${id}
        and scope in (${scopeName('agent')}, ${scopeName('team')}) returning id`)) !== undefined,
  };
}

/** What it means to do. */
export function todos({ db, userId, rows, first, scopeName, scopeOwner }: Access): TodoStore {
  return {
    todos: (scope) =>
      rows(sql<Todo>`select number::text as id, description, status from agent_todos
        where scope = ${scopeName(scope)} order by number`),
    addTodos: (scope, descriptions) =>
      db.asUser(userId, async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtext(${scopeName(scope)}))`.execute(tx);
        const added = await sql<Todo>`
          insert into agent_todos (user_id, agent_id, scope, number, description)
          select ${userId}, ${scopeOwner(scope)}, ${scopeName(scope)},
            coalesce((select max(number) from agent_todos where scope = ${scopeName(scope)}), 0) + n, description
          from unnest(${descriptions.map(storable)}::text[]) with ordinality as given (description, n)
          returning number::text as id, description, status`.execute(tx);
        await sql`delete from agent_todos where scope = ${scopeName(scope)} and status = 'completed' and number <= (
          select max(number) from agent_todos where scope = ${scopeName(scope)}) - ${TODOS_KEPT}`.execute(tx);
        return added.rows;
      }),
    setTodo: (scope, id, status) =>
      first(sql<Todo>`update agent_todos set status = ${status}
        where scope = ${scopeName(scope)} and number::text = ${id} returning number::text as id, description, status`),
  };
}
