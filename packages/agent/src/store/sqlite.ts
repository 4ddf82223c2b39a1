import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { differ, MEANING_NUMBERS, MEMORY_MEANINGS, numberMeanings } from './meaning-bits.ts';
import { catchUp, MEMORY_INDEX } from './memory-index.ts';
import { MEMORY_FACTS, SQLITE_COLUMNS, SQLITE_SCHEMA } from './sqlite-schema.ts';

export interface Sqlite {
  all: <T>(sql: string, ...values: SQLInputValue[]) => T[];
  // The caller names the type of a row.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the query says what a row is
  first: <T>(sql: string, ...values: SQLInputValue[]) => T | undefined;
  run: (sql: string, ...values: SQLInputValue[]) => { changes: number };
  /** All or nothing; the file's write lock is taken at the beginning, so that what is read stays true. */
  atomically: <T>(work: () => T) => T;
  close: () => void;
}

export function openSqlite(file: string): Sqlite {
  const db = new DatabaseSync(file);
  db.exec(
    'pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000; pragma mmap_size = 268435456;',
  );
  // SQLite's own knows the letters of English alone.
  db.function('folded', { deterministic: true }, (text) => String(text).toLowerCase());
  db.exec(SQLITE_SCHEMA);
  db.exec(MEMORY_MEANINGS);
  for (const [table, column, definition] of SQLITE_COLUMNS) {
    const known = db.prepare('select 1 from pragma_table_info(?) where name = ?').get(table, column);
    if (!known) db.exec(`alter table ${table} add column ${column} ${definition}`);
  }
  db.exec(MEMORY_INDEX);
  db.function('differ', { deterministic: true }, differ);
  db.exec(MEANING_NUMBERS);
  db.exec(MEMORY_FACTS);
  const sqlite = accessTo(db);
  sqlite.atomically(() => {
    catchUp(sqlite);
    numberMeanings(sqlite);
  });
  return sqlite;
}

/** Statements that are kept ready. */
const MOST_READY = 200;

function accessTo(db: DatabaseSync): Sqlite {
  const ready = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const known = ready.get(sql);
    if (known) return known;
    const made = db.prepare(sql);
    if (ready.size < MOST_READY) ready.set(sql, made);
    return made;
  };
  const all = <T>(sql: string, ...values: SQLInputValue[]): T[] => prepared(sql).all(...values) as T[];
  return {
    all,
    first: (sql, ...values) => all<never>(sql, ...values)[0],
    run: (sql, ...values) => ({ changes: Number(prepared(sql).run(...values).changes) }),
    atomically(work) {
      db.exec('begin immediate');
      try {
        const result = work();
        db.exec('commit');
        return result;
      } catch (error) {
        db.exec('rollback');
        throw error;
      }
    },
    close: () => db.close(),
  };
}
