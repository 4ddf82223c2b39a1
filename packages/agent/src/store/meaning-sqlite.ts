import { bytesOf, SignList } from '@troupe/knowledge';
import { signsOf } from './meaning-bits.ts';
import { afterAnswer, LIKELY, LOOKED_AT, MOST_CHANGES, MOST_CHARACTERS, UNKNOWN_MEANING } from './meaning.ts';
import type { MeaningState, MeaningStore, Unmeant } from './meaning.ts';
import type { SqliteAccess, Sync } from './sqlite-access.ts';
import type { Memory, Near, Scope } from './memory.ts';

export function sqliteMeanings(access: SqliteAccess): Sync<MeaningStore> {
  const { all, first, run, scopeName, iso } = access;
  return {
    meaning: (scope, model) => ({
      ...(first<MeaningState>(
        'select dimension, changes, note from memory_models where scope = ? and model = ?',
        scopeName(scope),
        model,
      ) ?? UNKNOWN_MEANING),
    }),
    setMeaning: (scope, model, { dimension, changes, note }) =>
      void run(
        'insert or replace into memory_models (scope, model, dimension, changes, note) values (?, ?, ?, ?, ?)',
        scopeName(scope),
        model,
        dimension,
        changes,
        note,
      ),
    unmeant: (scope, { model, dimension, most }) =>
      all<Unmeant>(
        `select id, substr(coalesce(key || ': ', '') || content, 1, ?) as text, updated_at as mark from memory m
        where scope = ? and expires_at > ? and not exists (select 1 from memory_vectors v
          where v.id = m.id and v.model = ? and v.dimension = ? and v.made_of = m.updated_at)
        order by updated_at desc, id limit ?`,
        MOST_CHARACTERS,
        scopeName(scope),
        iso(),
        model,
        dimension,
        most,
      ),
    ...writing(access),
  };
}

function writing({
  first,
  run,
  atomically,
  scopeName,
}: SqliteAccess): Pick<Sync<MeaningStore>, 'keepMeanings' | 'dropMeanings'> {
  return {
    keepMeanings: (scope, model, given) =>
      atomically(() => {
        for (const { id, mark, vector } of given) {
          const isThere = first(
            'select 1 from memory where id = ? and scope = ? and updated_at = ?',
            id,
            scopeName(scope),
            mark,
          );
          if (!isThere) continue;
          run('update memory_version set n = n + 1 where one = 2');
          run(
            `insert or replace into memory_vectors (id, model, scope, dimension, made_of, bits, n)
            values (?, ?, ?, ?, ?, ?, (select n from memory_version where one = 2))`,
            id,
            model,
            scopeName(scope),
            vector.length,
            mark,
            signsOf(vector),
          );
          run('insert or replace into memory_numbers (id, model, vector) values (?, ?, ?)', id, model, bytesOf(vector));
        }
      }),
    dropMeanings: (scope, chosen) =>
      atomically(() => {
        const where = 'scope = ? and model is not ?';
        run(
          `delete from memory_numbers where (id, model) in (select id, model from memory_vectors where ${where})`,
          scopeName(scope),
          chosen,
        );
        for (const table of ['memory_vectors', 'memory_models'])
          run(`delete from ${table} where ${where}`, scopeName(scope), chosen);
      }),
  };
}

/** Read at once of what is new. */
const AT_ONCE = 4096;
/** Memories of the agent and of its team, and of a model that was chosen a moment ago. */
const MOST_LISTS = 4;

export type MemorySigns = ReturnType<typeof createMemorySigns>;

/**
 * The first signs of all memories of a file that have numbers, as they are kept of documents. What is new is read before each
 * search, by the numbers that only grow. After a change of the file what is there of the rest is counted: where something is
 * gone, or was written anew, all of it is read again.
 */
export function createMemorySigns({ all, first }: Pick<SqliteAccess, 'all' | 'first'>) {
  const kept = new Map<string, { list: SignList; version: string }>();
  const OF = 'from memory_vectors where scope = ? and model = ? and dimension = ?';

  function listOf(scope: string, { model, vector }: Near): SignList {
    const dimension = vector.length;
    const key = [scope, model, dimension].join('\n');
    const one = kept.get(key) ?? { list: new SignList(dimension), version: '' };
    kept.delete(key);
    kept.set(key, one);
    for (const oldest of kept.keys()) if (kept.size > MOST_LISTS) kept.delete(oldest);
    const { list } = one;
    const version = all<{ n: number }>('select n from memory_version order by one').map(({ n }) => n);
    if (version.join(' ') === one.version) return list;
    one.version = version.join(' ');
    const { n } = first<{ n: number }>(`select count(*) as n ${OF} and n <= ?`, scope, model, dimension, list.last)!;
    if (n !== list.count) list.clear();
    for (let isMore = true; isMore;) {
      const rows = all<{ n: number; signs: Uint8Array }>(
        `select n, substr(bits, 1, ?) as signs ${OF} and n > ? order by n limit ?`,
        list.each,
        scope,
        model,
        dimension,
        list.last,
        AT_ONCE,
      );
      for (const { n, signs } of rows) list.add(n, signs);
      isMore = rows.length === AT_ONCE;
    }
    return list;
  }

  return {
    /** Numbers of memories whose first signs are most like the question's. */
    likely(scope: string, near: Near, most: number): number[] {
      const list = listOf(scope, near);
      const question = new Uint8Array(list.each);
      question.set(signsOf(near.vector).subarray(0, list.each));
      return list.likely(question, most);
    },
  };
}

/** Memories whose signs differ least from the question's. A model that makes other numbers than before is noted. */
export function nearestInSqlite(
  { all, scopeName, iso }: SqliteAccess,
  columns: string,
  { signs, meanings }: { signs: MemorySigns; meanings: Pick<Sync<MeaningStore>, 'meaning' | 'setMeaning'> },
  { scope, near, limit }: { scope: Scope; near: Near; limit: number },
): { memory: Memory; vector: Uint8Array }[] {
  const { model, vector } = near;
  const found = all<Memory & { vector: Uint8Array }>(
    `select ${columns}, n.vector from (
      select v.id, v.made_of from json_each(?) likely cross join memory_vectors v
        on v.scope = ? and v.model = ? and v.dimension = ? and v.n = likely.value
      order by differ(v.bits, ?) limit ?) near
    join memory on memory.id = near.id and memory.updated_at = near.made_of and memory.expires_at > ?
    join memory_numbers n on n.id = near.id and n.model = ?`,
    JSON.stringify(signs.likely(scopeName(scope), near, limit * LIKELY)),
    scopeName(scope),
    model,
    vector.length,
    signsOf(vector),
    limit * LOOKED_AT,
    iso(),
    model,
  );
  if (found.length === 0) {
    const state = meanings.meaning(scope, model);
    const next = state.dimension === null || state.changes > MOST_CHANGES ? state : afterAnswer(state, vector.length);
    if (next !== state) meanings.setMeaning(scope, model, next);
  }
  return found.map(({ vector: bytes, ...memory }) => ({ memory, vector: bytes }));
}
