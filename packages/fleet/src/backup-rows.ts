import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import type { Database, UserTx } from '@troupe/db';
import type { AgentRow } from '@troupe/roster';
import type { TarEntry, TarItem } from '@troupe/kernel';

/** An agent's rows in a backup: a file for each table, a line for each row. They pass by in pieces, however many there are. */

/**
 * The rows that a backup holds beside the workspace, and what of them is put back: no lease, since nobody works on them
 * then. Not the tokens of the day: a restore must not give them back.
 */
const TABLES = {
  agent_sessions:
    'id, agent_id, user_id, channel, key, status, last_seq, compacted_to, created_at, updated_at, title, pinned, archived, root_id, branch_of, branch_at',
  agent_events: 'session_id, seq, agent_id, user_id, data, input_id, at, copied',
  agent_memory:
    'id, user_id, agent_id, scope, key, content, created_at, updated_at, expires_at, source_session, source_seq, disputes',
  agent_todos: 'user_id, agent_id, scope, number, description, status',
} as const;
type Table = keyof typeof TABLES;

/** What a backup of an older release does not say. */
const NEWER = JSON.stringify({ pinned: false, archived: false, copied: false });

const NAMES = Object.keys(TABLES) as Table[];
/** A piece: so many rows at most, and about so many letters. A row may have a megabyte, and a conversation 100,000 rows. */
const MOST_ROWS = 500;
const MOST_LETTERS = 1_000_000;

/** Where rows lie while a backup is made or put back. */
export const rowsBeside = (place: string): string => `${place}.rows`;

const fileOf = (folder: string, table: Table): string => path.join(folder, `${table}.jsonl`);

/** Writes the rows down as they are at one moment, and answers what of it belongs into the archive. */
export async function writeRows(db: Database, agent: AgentRow, folder: string): Promise<TarEntry[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await db.asUser(
    agent.user_id,
    async (tx) => {
      for (const table of NAMES) {
        await using handle = await open(fileOf(folder, table), 'w', 0o600);
        await writeTable(tx, agent, table, handle);
      }
    },
    { isolation: 'repeatable read' },
  );
  return Promise.all(NAMES.map((table) => entryOf(table, fileOf(folder, table))));
}

async function writeTable(tx: UserTx, agent: AgentRow, table: Table, handle: FileHandle): Promise<void> {
  await sql`declare backup_rows cursor for select to_jsonb(t)::text as row from ${sql.table(table)} t
    where agent_id = ${agent.id}`.execute(tx);
  let count = 1;
  for (;;) {
    const { rows } = await sql<{ row: string }>`fetch ${sql.raw(`${count}`)} from backup_rows`.execute(tx);
    if (rows.length === 0) break;
    const text = rows.map(({ row }) => `${row}\n`).join('');
    await handle.write(text);
    // as many as would have made a piece of the size that we want
    count = Math.ceil(Math.min(MOST_ROWS, count * 2, (rows.length * MOST_LETTERS) / text.length));
  }
  await sql`close backup_rows`.execute(tx);
}

async function entryOf(table: Table, file: string): Promise<TarEntry> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  return { path: `${table}.jsonl`, mode: 0o600, file: { size, read: () => createReadStream(file) } };
}

/** Keeps the rows of an archive until all of it was read. What is no table of ours is passed over. */
export async function keepRows(item: TarItem, folder: string): Promise<void> {
  const table = NAMES.find((name) => item.path === `${name}.jsonl`);
  if (table === undefined) return;
  await using handle = await open(fileOf(folder, table), 'wx', 0o600);
  for await (const piece of item.content) await handle.write(piece);
}

export async function replaceRows(tx: UserTx, agent: AgentRow, folder: string): Promise<void> {
  // Events go with their sessions.
  for (const table of ['agent_sessions', 'agent_memory', 'agent_todos'])
    await sql`delete from ${sql.table(table)} where agent_id = ${agent.id}`.execute(tx);
  for (const table of NAMES)
    for await (const lines of piecesOf(fileOf(folder, table))) await insertRows(tx, table, lines);
}

/** Lines of a file, each with its end; not by readline, which ends a line at separators that JSON may hold as they are. */
async function* linesOf(file: string): AsyncGenerator<string> {
  // a backup of an older release has none for a table that came later
  if (!existsSync(file)) return;
  let parts: Buffer[] = [];
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, from)) {
      parts.push(piece.subarray(from, end));
      yield Buffer.concat(parts).toString();
      parts = [];
      from = end + 1;
    }
    parts.push(piece.subarray(from));
  }
}

async function* piecesOf(file: string): AsyncGenerator<string[]> {
  let lines: string[] = [];
  let letters = 0;
  for await (const line of linesOf(file)) {
    lines.push(line);
    letters += line.length;
    if (lines.length < MOST_ROWS && letters < MOST_LETTERS) continue;
    yield lines;
    lines = [];
    letters = 0;
  }
  if (lines.length > 0) yield lines;
}

async function insertRows(tx: UserTx, table: Table, lines: readonly string[]): Promise<void> {
  const columns = sql.raw(TABLES[table]);
  await sql`insert into ${sql.table(table)} (${columns})
    select ${columns} from jsonb_populate_recordset(
      jsonb_populate_record(null::${sql.table(table)}, ${NEWER}::jsonb), ${`[${lines.join(',')}]`}::jsonb)`.execute(tx);
}
