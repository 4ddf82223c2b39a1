import { newId } from '@troupe/kernel';
import { askedFor } from '@troupe/knowledge';
import { fusedMemories, SPARE, type MeaningStore } from './meaning.ts';
import { createMemorySigns, nearestInSqlite, type MemorySigns } from './meaning-sqlite.ts';
import { createMemoryFinder, INDEXED, putMemory, takeMemory, type IndexedMemory } from './memory-index.ts';
import type { SqliteAccess, Sync } from './sqlite-access.ts';
import type { Memory, MemoryStore, Scope } from './memory.ts';
import { PAGE_BYTES } from './store.ts';
import { TODOS_KEPT, type Todo, type TodoStore } from './todos.ts';

/** Of a fact out of a conversation also when it was said: those that contradict each other stand beside each other. */
const MEMORY = `memory.id, memory.key, memory.content || case when memory.source_session is null then ''
    else ' (said on ' || substr(memory.created_at, 1, 10) || ')' end as content, memory.created_at as createdAt, memory.updated_at as updatedAt,
  case when memory.scope like 'team:%' then 'team' else 'agent' end as scope`;
/** The same where SQLite allows no table name before a column. */
const RETURNED = MEMORY.replaceAll('memory.', '');

export function todos({ all, first, run, atomically, scopeName }: SqliteAccess): Sync<TodoStore> {
  return {
    todos: (scope) =>
      all<Todo>(
        'select cast(number as text) as id, description, status from todos where scope = ? order by number',
        scopeName(scope),
      ),
    addTodos: (scope, descriptions) =>
      atomically(() => {
        const added = descriptions.map(
          (description) =>
            first<Todo>(
              `insert into todos (scope, number, description)
          select ?, coalesce(max(number), 0) + 1, ? from todos where scope = ?
          returning cast(number as text) as id, description, status`,
              scopeName(scope),
              description,
              scopeName(scope),
            ) as Todo,
        );
        run(
          `delete from todos where scope = ? and status = 'completed'
          and number <= (select max(number) from todos where scope = ?) - ?`,
          scopeName(scope),
          scopeName(scope),
          TODOS_KEPT,
        );
        return added;
      }),
    setTodo: (scope, id, status) =>
      first<Todo>(
        `update todos set status = ? where scope = ? and cast(number as text) = ?
        returning cast(number as text) as id, description, status`,
        status,
        scopeName(scope),
        id,
      ),
  };
}

/** Single characters of a writing without spaces begin words. */
const begins = (term: string): boolean => !/^[a-z0-9]/.test(term) && Array.from(term).length === 1;

type Find = ReturnType<typeof createMemoryFinder>;

function found(
  access: SqliteAccess,
  find: Find,
  wanted: { scope: Scope; terms: readonly string[]; limit: number },
  begun: (term: string) => boolean,
): Memory[] {
  const places = find({ ...wanted, scope: access.scopeName(wanted.scope), begun, now: access.iso() });
  // In the order in which they were found.
  return access.all<Memory>(
    `select ${MEMORY} from json_each(?) found join memory on memory.place = found.value order by found.key`,
    JSON.stringify(places),
  );
}

/** By words, the best first. */
function worded(access: SqliteAccess, find: Find, scope: Scope, query: string, limit: number): Memory[] {
  const wanted = { scope, terms: askedFor(query), limit };
  if (wanted.terms.length === 0) return [];
  const whole = found(access, find, wanted, begins);
  // Half a word, as somebody types it.
  return whole.length > 0 ? whole : found(access, find, wanted, () => true);
}

type Meanings = Pick<Sync<MeaningStore>, 'meaning' | 'setMeaning'>;

function recall(
  access: SqliteAccess,
  { find, ...means }: { find: Find; signs: MemorySigns; meanings: Meanings },
  { scope, query, limit, offset = 0, near }: Parameters<MemoryStore['recall']>[0],
): Memory[] {
  const { all, iso, scopeName } = access;
  if (query !== undefined) {
    if (!near) return worded(access, find, scope, query, limit);
    const words = worded(access, find, scope, query, limit * SPARE);
    return fusedMemories(words, nearestInSqlite(access, MEMORY, means, { scope, near, limit }), {
      vector: near.vector,
      limit,
    });
  }
  return all<Memory>(
    `select ${MEMORY} from (
      select *, sum(length(content)) over (order by updated_at desc, id) - length(content) as before
      from (select * from memory where scope = ? and expires_at > ? order by updated_at desc, id limit ? offset ?)
    ) as memory where before < ? order by updated_at desc, id`,
    scopeName(scope),
    iso(),
    limit,
    offset,
    PAGE_BYTES,
  );
}

/** The entry that a key stands for, before it is written over. */
const underKey = ({ first }: SqliteAccess, scope: string, key: string | undefined): IndexedMemory | undefined =>
  key === undefined
    ? undefined
    : first<IndexedMemory>(`select ${INDEXED} from memory where scope = ? and key = ?`, scope, key);

function remember(
  access: SqliteAccess,
  { scope, key, content }: Parameters<MemoryStore['remember']>[0],
  { maxEntries, expires }: { maxEntries: number; expires: string },
): Memory {
  const { all, first, iso } = access;
  const scopeName = access.scopeName(scope);
  const before = underKey(access, scopeName, key);
  if (before) takeMemory(access, before);
  const kept = first<Memory>(
    `insert into memory (id, scope, key, content, created_at, updated_at, expires_at)
    values (?, ?, ?, ?, ?, ?, ?) on conflict (scope, key) do update set content = excluded.content,
    updated_at = excluded.updated_at, expires_at = excluded.expires_at returning ${RETURNED}`,
    newId(),
    scopeName,
    key ?? null,
    content,
    iso(),
    iso(),
    expires,
  ) as Memory;
  putMemory(access, first<IndexedMemory>(`select ${INDEXED} from memory where id = ?`, kept.id)!);
  const ended = all<IndexedMemory>(
    `delete from memory where scope = ? and expires_at <= ? returning ${INDEXED}`,
    scopeName,
    iso(),
  );
  // Putting all of them in order takes long: only where there are too many.
  const { n } = first<{ n: number }>('select count(*) as n from memory where scope = ?', scopeName)!;
  const tooMany =
    n <= maxEntries
      ? []
      : all<IndexedMemory>(
          `delete from memory where id in (
          select id from memory where scope = ? order by updated_at desc, id limit -1 offset ?) returning ${INDEXED}`,
          scopeName,
          maxEntries,
        );
  for (const row of [...ended, ...tooMany]) takeMemory(access, row);
  return kept;
}

export function memories(access: SqliteAccess, meanings: Meanings): Sync<MemoryStore> {
  const { all, first, atomically, iso, scopeName } = access;
  const expiry = (days: number): string => new Date(access.now().getTime() + days * 86_400_000).toISOString();
  const find = createMemoryFinder(access);
  const signs = createMemorySigns(access);
  const ownScopes = [scopeName('agent'), scopeName('team')] as const;
  return {
    remember: (given, { maxEntries, ttlDays }) =>
      atomically(() => remember(access, given, { maxEntries, expires: expiry(ttlDays) })),
    recall: (wanted) => recall(access, { find, signs, meanings }, wanted),
    editMemory: (id, content, { ttlDays }) =>
      atomically(() => {
        const before = first<IndexedMemory>(
          `select ${INDEXED} from memory where id = ? and scope in (?, ?)`,
          id,
          ...ownScopes,
        );
        if (!before) return undefined;
        takeMemory(access, before);
        const changed = first<Memory>(
          `update memory set content = ?, updated_at = ?, expires_at = ? where id = ? returning ${RETURNED}`,
          content,
          iso(),
          expiry(ttlDays),
          id,
        );
        putMemory(access, { ...before, content });
        return changed;
      }),
    forget: (id) =>
      atomically(() => {
        const gone = all<IndexedMemory>(
          `delete from memory where id = ? and scope in (?, ?) returning ${INDEXED}`,
          id,
          ...ownScopes,
        );
        for (const row of gone) takeMemory(access, row);
        return gone.length > 0;
      }),
  };
}
