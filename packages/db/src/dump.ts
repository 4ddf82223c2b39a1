import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { StartError, type Log } from '@troupe/kernel';
import { installJobs } from './jobs.ts';
import { connectOnce, migrate } from './migrate.ts';
import { HOME, readSchemaFiles } from './schema-files.ts';
import { LAST_WITH_ALL } from './schema-record.ts';

/**
 * All rows as files, and back into an empty database, whatever its server and version. PostgreSQL's own tools need a
 * version as new as the server's, which few machines have for the embedded one, and a login that passes row-level
 * security, which ours does not.
 */

interface Table {
  name: string;
  columns: { name: string; type: string }[];
  rows: number;
}

interface Manifest {
  migrations: { name: string; checksum: string }[];
  /** Of the job queue's own tables. */
  jobs: number;
  tables: Table[];
  sequences: { name: string; value: string }[];
}

const MANIFEST = 'manifest.json';
const ROWS_AT_ONCE = 500;
const fileOf = (folder: string, table: string): string => join(folder, `${table}.jsonl`);

/** The record of the schema comes back by migrating; the queue's statistics are its own business. */
const KEPT = `c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'pgboss')
  and not (n.nspname = 'public' and starts_with(c.relname, 'schema_')) and c.oid <> 'pgboss.queue_stats'::regclass`;

async function inTransaction<T>(url: string, mode: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectOnce(url);
  try {
    await client.query(`begin ${mode}`);
    // what a value looks like as text depends on these
    await client.query(`set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
      set local bytea_output = 'hex'; set local extra_float_digits = 1; set local search_path = ''`);
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    await client.end();
  }
}

async function rowsOf<T extends pg.QueryResultRow>(client: pg.Client, text: string): Promise<T[]> {
  return (await client.query<T>(text)).rows;
}

/** Everything as it was at one moment, while others go on. Returns the number of rows. */
export async function dumpDatabase(url: string, folder: string): Promise<number> {
  return inTransaction(url, 'isolation level repeatable read, read only', async (client) => {
    await checkReadable(client);
    const tables = await rowsOf<Table & { guarded: boolean }>(
      client,
      `select format('%I.%I', n.nspname, c.relname) as name, c.relforcerowsecurity as guarded,
         (select json_agg(json_build_object('name', quote_ident(attname), 'type', format_type(atttypid, atttypmod)) order by attnum)
          from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${KEPT} order by 1`,
    );
    const [migrations, [queue]] = [
      await rowsOf<Manifest['migrations'][number]>(
        client,
        'select name, checksum from public.schema_migrations order by version',
      ),
      await rowsOf<{ version: number }>(client, 'select version from pgboss.version'),
    ];
    const done: Table[] = [];
    for (const { guarded, ...table } of tables) {
      // forced row-level security binds the owner of the tables, too
      await client.query(guarded ? 'set local role svc_system' : 'reset role');
      done.push({ ...table, rows: await writeRows(client, table, fileOf(folder, table.name)) });
    }
    await client.query('reset role');
    // last: a number that was given meanwhile must not be given again
    const sequences = await rowsOf<Manifest['sequences'][number]>(
      client,
      `select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences
       where schemaname in ('public', 'pgboss') and last_value is not null order by 1`,
    );
    const manifest: Manifest = { migrations, jobs: queue?.version ?? 0, tables: done, sequences };
    await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`);
    return done.reduce((sum, { rows }) => sum + rows, 0);
  });
}

/** A policy that hid a row would leave it out without a word. */
async function checkReadable(client: pg.Client): Promise<void> {
  const [found] = await rowsOf<{ made: boolean }>(client, `select to_regclass('pgboss.version') is not null as made`);
  if (!found?.made) throw new StartError('There is nothing in the database yet: start Troupe once.');
  const hidden = await rowsOf<{ name: string }>(
    client,
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where ${KEPT} and c.relforcerowsecurity and not exists (
       select from pg_policies where schemaname = n.nspname and tablename = c.relname
         and 'svc_system' = any(roles) and cmd in ('ALL', 'SELECT') and qual = 'true')`,
  );
  if (hidden.length > 0) throw new Error(`svc_system cannot read all of ${hidden.map(({ name }) => name).join(', ')}`);
}

async function writeRows(client: pg.Client, { name, columns }: Omit<Table, 'rows'>, file: string): Promise<number> {
  let count = 0;
  async function* lines(): AsyncGenerator<string> {
    const values = columns.map((column) => `${column.name}::text`).join(', ');
    await client.query(`declare dumped no scroll cursor for select ${values} from ${name}`);
    for (;;) {
      const { rows } = await client.query<(string | null)[]>({
        text: `fetch ${ROWS_AT_ONCE} from dumped`,
        rowMode: 'array',
      });
      for (const row of rows) yield lineOf(row);
      count += rows.length;
      if (rows.length < ROWS_AT_ONCE) break;
    }
    await client.query('close dumped');
  }
  await pipeline(Readable.from(lines()), createWriteStream(file, { mode: 0o600, flush: true }));
  return count;
}

/** Readers of lines also end one at these two. */
const lineOf = (row: unknown): string =>
  `${JSON.stringify(row).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;

/** The rows of one table of a dump. */
export async function* dumpedRows(folder: string, table: string): AsyncGenerator<Record<string, string | null>> {
  const { tables } = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Manifest;
  const columns = tables.find(({ name }) => name === table)?.columns ?? [];
  for await (const line of createInterface({ input: createReadStream(fileOf(folder, table)), crlfDelay: Infinity })) {
    const row = JSON.parse(line) as (string | null)[];
    yield Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]));
  }
}

export interface LoadOptions {
  url: string;
  folder: string;
  log: Log;
}

/** Puts all rows into a database that has none, or changes no row. Returns their number. */
export async function loadDatabase({ url, folder, log }: LoadOptions): Promise<number> {
  const manifest = JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as Manifest;
  await makeTables(url, manifest, log);
  return inTransaction(url, '', async (client) => {
    await checkEmpty(client, manifest);
    const tables = manifest.tables.map(({ name }) => name);
    const links = await rowsOf<{ table: string; name: string; rule: string }>(
      client,
      `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as rule
       from pg_constraint
       where contype = 'f' and conparentid = 0 and connamespace::regnamespace::text in ('public', 'pgboss')`,
    );
    const guarded = await rowsOf<{ name: string }>(
      client,
      `select c.oid::regclass::text as name from pg_class c
       join pg_namespace n on n.oid = c.relnamespace where ${KEPT} and c.relforcerowsecurity`,
    );
    // rows come in any order and are right already; what checks them is back before the transaction ends
    for (const { table, name } of links) await client.query(`alter table ${table} drop constraint ${name}`);
    for (const name of tables) await client.query(`alter table ${name} disable trigger user`);
    for (const { name } of guarded) await client.query(`alter table ${name} no force row level security`);
    await client.query(`truncate ${tables.join(', ')}`);
    for (const table of manifest.tables) await readRows(client, table, fileOf(folder, table.name));
    for (const { name, value } of manifest.sequences)
      await client.query('select setval($1::regclass, $2)', [name, value]);
    for (const { name } of guarded) await client.query(`alter table ${name} force row level security`);
    for (const name of tables) await client.query(`alter table ${name} enable trigger user`);
    for (const { table, name, rule } of links)
      await client.query(`alter table ${table} add constraint ${name} ${rule}`);
    return manifest.tables.reduce((sum, { rows }) => sum + rows, 0);
  });
}

/** The tables as they were for the dump; a newer program brings them up to date when it starts. */
async function makeTables(url: string, { migrations }: Manifest, log: Log): Promise<void> {
  const { start, migrations: later } = await readSchemaFiles(HOME);
  const own = new Map([...(start?.steps ?? []), ...later].map(({ name, checksum }) => [name, checksum]));
  const unknown = migrations.find(({ name, checksum }) => own.get(name) !== checksum);
  if (unknown)
    throw new StartError(
      `The backup has the migration ${unknown.name}, which this version of Troupe does not know: restore it with the version that made it.`,
    );
  const only = new Set(migrations.map(({ name }) => name));
  if (start?.steps.some(({ name }) => !only.has(name)))
    throw new StartError(
      `The backup is from before ${start.steps.at(-1)?.name}, from where on this version of Troupe knows the way: restore it with the version that made it, and update through ${LAST_WITH_ALL}.`,
    );
  await migrate({ url, log, only });
  await installJobs(url, log);
}

async function checkEmpty(client: pg.Client, { migrations, jobs }: Manifest): Promise<void> {
  const [queue] = await rowsOf<{ version: number }>(client, 'select version from pgboss.version');
  if (queue?.version !== jobs)
    throw new StartError(
      'The backup was made by a version of Troupe with another job queue: restore it with that version, then update.',
    );
  await client.query('set local role svc_system');
  const people = await rowsOf(client, 'select from public.users limit 1');
  await client.query('reset role');
  const applied = await rowsOf(client, 'select from public.schema_migrations');
  if (people.length > 0 || applied.length !== migrations.length)
    throw new StartError('The database is in use already: restore into an empty one.');
}

async function readRows(client: pg.Client, { name, columns, rows }: Table, file: string): Promise<void> {
  const numbers = columns.map((_, index) => index + 1);
  const text = `insert into ${name} (${columns.map((column) => column.name).join(', ')}) overriding system value
    select ${columns.map(({ type }, index) => `v.c${index + 1}::${type}`).join(', ')}
    from unnest(${numbers.map((number) => `$${number}::text[]`).join(', ')}) as v (${numbers.map((number) => `c${number}`).join(', ')})`;
  let count = 0;
  let batch: (string | null)[][] = [];
  const insert = async (): Promise<void> => {
    if (batch.length === 0) return;
    await client.query(
      text,
      columns.map((_, index) => batch.map((row) => row[index] ?? null)),
    );
    count += batch.length;
    batch = [];
  };
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    batch.push(JSON.parse(line) as (string | null)[]);
    if (batch.length >= ROWS_AT_ONCE) await insert();
  }
  await insert();
  if (count !== rows) throw new StartError(`The backup is damaged: ${name} has ${count} rows instead of ${rows}.`);
}
