import type { Database } from '@troupe/db';
import { sql } from 'kysely';
import type { OwnerIds } from './world.ts';

/** Columns that the platform itself moves on. */
const MOVING = ['last_used_at', 'last_seen_at', 'mailed_at'];
/** Rows that others add on purpose: the owner is told who tried the password. */
const ADDED = `(tab = 'audit_log' and line ->> 'action' = 'sign-in-failed')`;
/** A session that has ended is swept. */
const SWEPT = `(tab = 'sessions' and (line ->> 'expires_at')::timestamptz < now())`;

type Snapshot = Map<string, string>;

/** Every row of the owner's, in every table: a hash, and the row to be shown. */
export async function snapshot(db: Database, ids: OwnerIds): Promise<Snapshot> {
  const { rows: tables } = await sql<{ name: string; owned: boolean }>`
    select table_name as name, exists (select from information_schema.columns c where c.table_schema = 'public'
      and c.table_name = t.table_name and c.column_name = 'user_id') as owned
    from information_schema.tables t where table_schema = 'public' and table_type = 'BASE TABLE'
      and not starts_with(table_name, 'schema_')`.execute(db.system);
  const names = [
    ids.userId,
    ids.agentId,
    ids.memberId,
    ids.teamId,
    ids.paymentSessionId,
    ids.address,
    ids.agentAddress,
  ];
  const pattern = names.join('|');
  const parts = tables.map(({ name, owned }) => {
    const mine = owned
      ? sql`user_id = ${ids.userId}`
      : name === 'users'
        ? sql`id = ${ids.userId}`
        : sql`to_jsonb(t)::text ~* ${pattern}`;
    return sql`select ${name}::text as tab, to_jsonb(t) - ${sql.val(MOVING)}::text[] as line from ${sql.table(name)} t where ${mine}`;
  });
  const { rows } = await sql<{ tab: string; hash: string; line: string }>`
    select tab, md5(line::text) as hash, line::text as line from (${sql.join(parts, sql` union all `)}) as rows
    where not ${sql.raw(ADDED)} and not ${sql.raw(SWEPT)}`.execute(db.system);
  return new Map(rows.map(({ tab, hash, line }) => [`${tab} ${hash}`, line]));
}

/** What differs: a sentence each. */
export function differences(before: Snapshot, after: Snapshot): string[] {
  const only = (one: Snapshot, other: Snapshot, what: string) =>
    [...one]
      .filter(([key]) => !other.has(key))
      .map(([key, line]) => `${what} ${key.split(' ')[0]}: ${line.slice(0, 300)}`);
  return [...only(before, after, 'gone or changed:'), ...only(after, before, 'new or changed:')];
}

/** Tables of users in which the owner has nothing. */
export const emptyTables = async (db: Database, { userId }: OwnerIds): Promise<string[]> => {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'user_id'
    order by 1`.execute(db.system);
  const empty: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql`select from ${sql.table(name)} where user_id = ${userId} limit 1`.execute(db.system);
    if (rows.length === 0) empty.push(name);
  }
  return empty;
};
