import { bytesOf } from '@troupe/knowledge';
import { signsOf } from './meaning-bits.ts';
import { afterAnswer, LOOKED_AT, MOST_CHANGES, MOST_CHARACTERS, UNKNOWN_MEANING } from './meaning.ts';
import type { MeaningState, MeaningStore, Near, Unmeant } from './meaning.ts';
import type { SqliteAccess, Sync } from './sqlite-access.ts';
import type { Memory, Scope } from './memory.ts';

export function sqliteMeanings(access: SqliteAccess): Sync<keyof MeaningStore> {
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
}: SqliteAccess): Pick<Sync<keyof MeaningStore>, 'keepMeanings' | 'dropMeanings'> {
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
          run(
            `insert or replace into memory_vectors (id, model, scope, dimension, made_of, bits) values (?, ?, ?, ?, ?, ?)`,
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

/** Memories whose signs differ least from the question's. A model that makes other numbers than before is noted. */
export function nearestInSqlite(
  { all, scopeName, iso }: SqliteAccess,
  columns: string,
  meanings: Pick<Sync<keyof MeaningStore>, 'meaning' | 'setMeaning'>,
  { scope, near: { model, vector }, limit }: { scope: Scope; near: Near; limit: number },
): { memory: Memory; vector: Uint8Array }[] {
  const found = all<Memory & { vector: Uint8Array }>(
    `select ${columns}, n.vector from (
      select v.id, v.made_of from memory_vectors v where v.scope = ? and v.model = ? and v.dimension = ?
      order by differ(v.bits, ?) limit ?) near
    join memory on memory.id = near.id and memory.updated_at = near.made_of and memory.expires_at > ?
    join memory_numbers n on n.id = near.id and n.model = ?`,
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
