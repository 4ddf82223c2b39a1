import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { sha256Hex, StartError } from '@troupe/kernel';
import type { Log } from '@troupe/kernel';
import { checkObstacles } from './obstacles.ts';
import { ensureRoles } from './roles.ts';

interface Migration {
  version: number;
  name: string;
  checksum: string;
  sql: string;
}

export interface MigrateOptions {
  url: string;
  log: Log;
  directory?: string;
  /** Only these, for a database that is to be as old as a backup. */
  only?: ReadonlySet<string>;
}

const DIRECTORY = join(import.meta.dirname, '../migrations');
/** Any constant: whoever holds it migrates, the others wait. */
const LOCK = 7_206_811_001;
const OLDEST_SERVER = 150_000;

/** Brings the database up to the migrations of this program; the names of those applied now. */
export async function migrate({ url, log, directory = DIRECTORY, only }: MigrateOptions): Promise<string[]> {
  const client = await connectOnce(url);
  try {
    await checkServer(client);
    await client.query(`select pg_advisory_lock(${LOCK})`);
    await ensureRoles(client);
    await client.query(`create table if not exists schema_migrations (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`);
    const all = await pendingOf(client, await readMigrations(directory));
    const pending = only ? all.filter(({ name }) => only.has(name)) : all;
    await checkObstacles(client, pending);
    for (const migration of pending) {
      await apply(client, migration);
      log.info({ migration: migration.name }, 'migration applied');
    }
    return pending.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

export async function connectOnce(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'troupe migrate' });
  // A connection that breaks later fails the query in flight; without a listener it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (cause) {
    const { host, port, database } = client;
    const why = (cause as Error).message || (cause as { code?: string }).code;
    throw new StartError(
      `The database ${database} at ${host}:${port} cannot be opened (${why}): check DATABASE_URL and that the server runs.`,
      { cause },
    );
  }
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: number; version: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version`,
  );
  const server = rows[0];
  if (server && server.number < OLDEST_SERVER) {
    throw new StartError(`PostgreSQL 15 or later is needed, and the server of DATABASE_URL is ${server.version}.`);
  }
}

/** What this program would apply to an empty database. */
export const ownMigrations = (): Promise<Migration[]> => readMigrations(DIRECTORY);

async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  const migrations = await Promise.all(
    files.map(async (file) => {
      const version = Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(file)?.[1]);
      if (!version) throw new Error(`A migration is named NNNN_name.sql, not ${file}`);
      const sql = (await readFile(join(directory, file), 'utf8')).replaceAll('\r\n', '\n');
      return { version, name: file.replace(/\.sql$/, ''), checksum: sha256Hex(sql), sql };
    }),
  );
  const twice = migrations.find(({ version }, index) => version === migrations[index - 1]?.version);
  if (twice) throw new Error(`Two migrations have the number ${twice.version}`);
  return migrations;
}

async function pendingOf(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows } = await client.query<{ version: number; name: string; checksum: string }>(
    'select version, name, checksum from schema_migrations order by version',
  );
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const applied of rows) {
    const migration = known.get(applied.version);
    if (!migration) {
      throw new StartError(
        `The database has the migration ${applied.name}, which this version of Troupe does not know: start the newer version that made it.`,
      );
    }
    if (migration.checksum !== applied.checksum) {
      throw new StartError(
        `The migration ${applied.name} was changed after the database had applied it: put the file back as it was, and write a new migration.`,
      );
    }
  }
  const done = new Set(rows.map(({ version }) => version));
  return migrations.filter(({ version }) => !done.has(version));
}

async function apply(client: pg.Client, { version, name, checksum, sql }: Migration): Promise<void> {
  try {
    await client.query('begin');
    await client.query(sql);
    await client.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      version,
      name,
      checksum,
    ]);
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback').catch(() => {});
    throw new StartError(
      `The migration ${name} failed and was undone (${(cause as Error).message}): nothing was changed.`,
      { cause },
    );
  }
}
