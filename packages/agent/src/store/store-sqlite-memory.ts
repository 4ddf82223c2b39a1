import { newId } from '@troupe/kernel';
import { askedFor } from '@troupe/knowledge';
import type { SqliteAccess, Sync } from './sqlite-access.ts';
import { PAGE_BYTES, TODOS_KEPT, type AgentStore, type Memory, type Scope, type Todo } from './store.ts';

const MEMORY = `memory.id, memory.key, memory.content, memory.created_at as createdAt, memory.updated_at as updatedAt,
  case when memory.scope like 'team:%' then 'team' else 'agent' end as scope`;
/** The same where SQLite allows no table name before a column. */
const RETURNED = MEMORY.replaceAll('memory.', '');

export function todos({
  all,
  first,
  run,
  atomically,
  scopeName,
}: SqliteAccess): Sync<'todos' | 'addTodos' | 'setTodo'> {
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

/** What was remembered together belongs together: how much those beside count, by how far away they are. */
const BESIDE = [0.4, 0.2];

/** Single characters of a writing without spaces begin words. */
const begins = (term: string): boolean => !/^[a-z0-9]/.test(term) && Array.from(term).length === 1;
const matchOf = (term: string, all: boolean): string => (all || begins(term) ? `"${term}"*` : `"${term}"`);

/**
 * BM25 of what is alive in the scope. SQLite's own counts a word that more than half have as nothing, and that word may be
 * a name: its weight of the term is taken out, and the usual one put in.
 */
function scoresOf(
  { all, first, iso, scopeName }: SqliteAccess,
  scope: Scope,
  matches: readonly string[],
): Map<string, number> {
  const scores = new Map<string, number>();
  const total = first<{ n: number }>('select count(*) as n from memory')?.n ?? 0;
  const at = iso();
  for (const match of matches) {
    const rows = all<{ id: string; scope: string; until: string; score: number }>(
      `select memory.id, memory.scope, memory.expires_at as until, -bm25(memory_terms) as score
      from memory_terms join memory on memory.rowid = memory_terms.rowid where memory_terms match ?`,
      match,
    );
    const odds = (total - rows.length + 0.5) / (rows.length + 0.5);
    const weight = Math.log(1 + odds) / Math.max(1e-6, Math.log(odds));
    for (const { id, scope: whose, until, score } of rows)
      if (whose === scopeName(scope) && until > at) scores.set(id, (scores.get(id) ?? 0) + score * weight);
  }
  return scores;
}

/** The best, counting what was remembered just before and after them. */
function found(
  access: SqliteAccess,
  { scope, matches, limit }: { scope: Scope; matches: readonly string[]; limit: number },
): string[] {
  const scores = scoresOf(access, scope, matches);
  if (scores.size === 0) return [];
  const order = access.all<{ id: string }>(
    'select id from memory where scope = ? order by created_at, id',
    access.scopeName(scope),
  );
  const scoreAt = (place: number): number => scores.get(order[place]?.id ?? '') ?? 0;
  return order
    .flatMap(({ id }, place) => {
      const own = scores.get(id);
      if (own === undefined) return [];
      const beside = BESIDE.reduce(
        (sum, share, n) => sum + share * (scoreAt(place - n - 1) + scoreAt(place + n + 1)),
        0,
      );
      return [{ id, place, score: own + beside }];
    })
    .toSorted((a, b) => b.score - a.score || b.place - a.place)
    .slice(0, limit)
    .map(({ id }) => id);
}

function recall(
  access: SqliteAccess,
  { scope, query, limit, offset = 0 }: Parameters<AgentStore['recall']>[0],
): Memory[] {
  const { all, iso, scopeName } = access;
  if (query !== undefined) {
    const terms = askedFor(query);
    const by = (all: boolean) => found(access, { scope, matches: terms.map((term) => matchOf(term, all)), limit });
    const whole = terms.length === 0 ? [] : by(false);
    // Half a word, as somebody types it.
    const ids = whole.length > 0 || terms.length === 0 ? whole : by(true);
    const rows = all<Memory>(
      `select ${MEMORY} from memory where id in (select value from json_each(?))`,
      JSON.stringify(ids),
    );
    return rows.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
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

export function memories(access: SqliteAccess): Sync<'remember' | 'recall' | 'editMemory' | 'forget'> {
  const { first, run, atomically, iso, scopeName } = access;
  const expiry = (days: number): string => new Date(access.now().getTime() + days * 86_400_000).toISOString();
  const ownScopes = [scopeName('agent'), scopeName('team')] as const;
  return {
    remember: ({ scope, key, content }, { maxEntries, ttlDays }) =>
      atomically(() => {
        const kept = first<Memory>(
          `insert into memory (id, scope, key, content, created_at, updated_at, expires_at)
          values (?, ?, ?, ?, ?, ?, ?) on conflict (scope, key) do update set content = excluded.content,
          updated_at = excluded.updated_at, expires_at = excluded.expires_at returning ${RETURNED}`,
          newId(),
          scopeName(scope),
          key ?? null,
          content,
          iso(),
          iso(),
          expiry(ttlDays),
        ) as Memory;
        run(
          `delete from memory where scope = ? and (expires_at <= ? or id in (
          select id from memory where scope = ? order by updated_at desc, id limit -1 offset ?))`,
          scopeName(scope),
          iso(),
          scopeName(scope),
          maxEntries,
        );
        return kept;
      }),
    recall: (wanted) => recall(access, wanted),
    editMemory(id, content, { ttlDays }) {
      return first<Memory>(
        `update memory set content = ?, updated_at = ?, expires_at = ?
        where id = ? and scope in (?, ?) returning ${RETURNED}`,
        content,
        iso(),
        expiry(ttlDays),
        id,
        ...ownScopes,
      );
    },
    forget: (id) => run('delete from memory where id = ? and scope in (?, ?)', id, ...ownScopes).changes > 0,
  };
}
