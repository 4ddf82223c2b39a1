import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StartError } from '@troupe/kernel';
import type { Log } from '@troupe/kernel';
import { applyFunctions, makeNew } from './functions.ts';
import { connectionTo } from './primary.ts';
import { enrol, type Enrolled } from './processes.ts';
import { ensureRoles } from './roles.ts';
import { HOME, readSchemaFiles, type SchemaFiles, type Step } from './schema-files.ts';
import { planOf, readRecord, type SchemaRecord } from './schema-record.ts';
import { applyMigration, applyStart, PATIENCE, type Patience } from './steps.ts';

export interface MigrateOptions {
  url: string;
  log: Log;
  /** The folder with `migrations` and `functions`. */
  home?: string;
  /** Only these migrations, for a database that is to be as old as a backup, and no functions but those that tables need. */
  only?: ReadonlySet<string>;
  /** Who is going to work on the database, if anybody does. */
  process?: Enrolled;
  /** Nobody else can work on this database: whoever is on record is dead. */
  alone?: boolean;
  patience?: Patience;
}

export interface Migrated {
  /** Names of the migrations that were applied now. */
  applied: string[];
  /** Names of the functions that were made or replaced now. */
  functions: string[];
  /** Whether something waits for processes of other releases to end: a contract step, a function that goes. */
  waits: boolean;
}

/** Any constant: whoever holds it migrates, the others wait. */
const LOCK = 7_206_811_001;
const LOOK_MS = 50;
const OLDEST_SERVER = 150_000;

/** Brings the database up to what this program needs. */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const reading = readSchemaFiles(options.home ?? HOME);
  // Whoever fails first is told of: nobody would see this one once there is no connection.
  reading.catch(() => {});
  const client = await connectOnce(options.url);
  try {
    await takeTurn(client);
    await ensureRoles(client);
    const files = await reading;
    const record = await readRecord(client, files);
    if (options.alone && record.processes.length > 0) {
      await client.query('delete from public.schema_processes');
      record.processes = [];
    }
    return await bringUp(client, files, record, options);
  } finally {
    await client.end();
  }
}

async function bringUp(
  client: pg.Client,
  files: SchemaFiles,
  record: SchemaRecord,
  { log, only, process, patience = PATIENCE }: MigrateOptions,
): Promise<Migrated> {
  const plan = planOf(files, record, process?.id);
  const wanted = (step: Step): boolean => only?.has(step.name) ?? true;
  const pending = plan.migrations.filter(wanted);
  const applied = plan.start && files.start?.steps.every(wanted) ? await applyStart(client, files) : [];
  // Tables of a new migration may lean on functions that are not there yet.
  if (applied.length === 0 && pending.length > 0) {
    const there = new Set(record.functions.map(({ name }) => name));
    await makeNew(
      client,
      files.functions.filter(({ early, name }) => early && !there.has(name)),
    );
  }
  for (const migration of pending) await applyMigration(client, migration, log, patience);
  applied.push(...pending.map(({ name }) => name));
  for (const { migration, processes } of plan.waiting)
    log.info({ migration: migration.name, processes }, 'a contract step waits for older processes to end');
  const others = record.processes.some(({ id, release }) => id !== process?.id && release !== files.release);
  const current = applied.length > 0 ? await readRecord(client, files) : record;
  const functions = only
    ? []
    : await applyFunctions(client, { functions: files.functions, recorded: current.functions, others, log });
  if (process) await enrol(client, process, files);
  return { applied, functions, waits: plan.waiting.length > 0 || others };
}

/** By looking again and again: who waits inside of a statement would hold up an index that is made concurrently. */
async function takeTurn(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ mine: boolean; number: number; version: string }>(
      `select pg_try_advisory_lock(${LOCK}) as mine, current_setting('server_version_num')::int as number,
         current_setting('server_version') as version`,
    );
    const { mine = false, number = 0, version } = rows[0] ?? {};
    if (number < OLDEST_SERVER)
      throw new StartError(`PostgreSQL 15 or later is needed, and the server of DATABASE_URL is ${version}.`);
    if (mine) return;
    await delay(LOOK_MS);
  }
}

export async function connectOnce(url: string): Promise<pg.Client> {
  const client = new pg.Client({ ...connectionTo(url), application_name: 'troupe migrate' });
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
