import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { termsOf } from '@troupe/knowledge';
import { SQLITE_COLUMNS, SQLITE_SCHEMA } from './sqlite-schema.ts';

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

/** A day as people write it. */
function dayIn(at: string): string {
  const day = new Date(at);
  if (Number.isNaN(day.getTime())) return '';
  return day.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
}

export function openSqlite(file: string): Sqlite {
  const db = new DatabaseSync(file);
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000;');
  const terms = (text: string): string => termsOf(text).join(' ');
  db.function('terms', { deterministic: true }, (text) => (text === null ? null : terms(String(text))));
  db.function('day', { deterministic: true }, (at) => terms(dayIn(String(at))));
  // SQLite's own knows the letters of English alone.
  db.function('folded', { deterministic: true }, (text) => String(text).toLowerCase());
  db.exec(SQLITE_SCHEMA);
  for (const [table, column, definition] of SQLITE_COLUMNS) {
    const known = db.prepare('select 1 from pragma_table_info(?) where name = ?').get(table, column);
    if (!known) db.exec(`alter table ${table} add column ${column} ${definition}`);
  }
  const all = <T>(sql: string, ...values: SQLInputValue[]): T[] => db.prepare(sql).all(...values) as T[];
  return {
    all,
    first: (sql, ...values) => all<never>(sql, ...values)[0],
    run: (sql, ...values) => ({ changes: Number(db.prepare(sql).run(...values).changes) }),
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
