import type pg from 'pg';
import { StartError } from '@troupe/kernel';
import type { Kind, Migration, SchemaFiles, Start, Step } from './schema-files.ts';

export interface Applied extends Step {
  /** Null: recorded by a version that knew no kinds. */
  kind: Kind | null;
  after: number | null;
}

export interface RecordedFunction {
  name: string;
  checksum: string;
  /** The types of its arguments; null: dropped. */
  shape: string | null;
  /** Or replaced by another one of its name. */
  current: boolean;
}

/** A process that works on the database. */
interface LiveProcess {
  id: string;
  service: string;
  knows: number;
  release: string;
}

export interface SchemaRecord {
  migrations: Applied[];
  functions: RecordedFunction[];
  processes: LiveProcess[];
}

/** The database has gone further than this program can follow. */
export class Outdated extends StartError {}

/** Who is silent for so long is dead; whoever lives says so several times as often. */
export const DEAD_SECONDS = 45;

/** Sent as one. */
const READ = `
  select version, name, checksum, kind, "after" from public.schema_migrations order by version;
  select name, checksum, shape, current from public.schema_functions;
  select id, service, knows, release from public.schema_processes
    where seen_at > now() - interval '${DEAD_SECONDS} seconds'`;

const MAKE = `
  create table if not exists public.schema_migrations (
    version integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
  );
  alter table public.schema_migrations
    add column if not exists kind text check (kind in ('expand', 'contract')),
    add column if not exists "after" integer;
  create table if not exists public.schema_functions (
    name text not null,
    checksum text not null,
    shape text,
    current boolean not null,
    applied_at timestamptz not null default now(),
    primary key (name, checksum)
  );
  create table if not exists public.schema_processes (
    id text primary key,
    service text not null,
    knows integer not null,
    release text not null,
    started_at timestamptz not null default now(),
    seen_at timestamptz not null default now()
  );
  grant select, update, delete on public.schema_processes to svc_system`;

/** A database that an older version made, or nobody yet. */
const LACKING: ReadonlySet<unknown> = new Set(['42P01', '42703']);

/** Everything that a start has to know, in one question; undefined: there is no record, or an older one. */
export async function peekRecord(client: pg.Client): Promise<SchemaRecord | undefined> {
  try {
    const results = (await client.query(READ)) as unknown as { rows: unknown[] }[];
    const [migrations, functions, processes] = results.map(({ rows }) => rows);
    return { migrations, functions, processes } as SchemaRecord;
  } catch (error) {
    if (LACKING.has((error as { code?: string }).code)) return undefined;
    throw error;
  }
}

export async function readRecord(client: pg.Client, files: SchemaFiles): Promise<SchemaRecord> {
  const found = await peekRecord(client);
  if (found) return found;
  // A database that this program refuses stays as it is.
  planOf(files, { migrations: await readOldRecord(client), functions: [], processes: [] });
  await client.query('begin');
  await client.query(MAKE);
  // Versions before kept no record of functions: those that the start names are ours.
  await client.query(
    `insert into public.schema_functions (name, checksum, shape, current)
     select proname, 'before', oidvectortypes(proargtypes), true from pg_proc
     where pronamespace = 'public'::regnamespace and proname = any($1) on conflict do nothing`,
    [files.start?.functions ?? []],
  );
  await client.query('commit');
  const made = await peekRecord(client);
  if (!made) throw new Error('The record of the schema was made and cannot be read');
  return made;
}

/** As versions wrote it that knew no kinds of migrations. */
export async function readOldRecord(client: pg.Client): Promise<Applied[]> {
  const { rowCount } = await client.query(`select where to_regclass('public.schema_migrations') is not null`);
  if (rowCount === 0) return [];
  const { rows } = await client.query<Step>(
    'select version, name, checksum from public.schema_migrations order by version',
  );
  return rows.map((step) => ({ ...step, kind: null, after: null }));
}

export interface Plan {
  start: boolean;
  migrations: Migration[];
  /** Contract steps that wait, and the processes that they wait for. */
  waiting: { migration: Migration; processes: LiveProcess[] }[];
}

/** What is to be applied, or why this program cannot work on the database. */
export function planOf(files: SchemaFiles, record: SchemaRecord, self?: string): Plan {
  const known = new Map<number, Step>();
  for (const step of [...(files.start?.steps ?? []), ...files.migrations]) known.set(step.version, step);
  for (const applied of record.migrations) checkApplied(applied, known.get(applied.version), files.knows);
  const done = new Set(record.migrations.map(({ version }) => version));
  const start = files.start ? stateOfStart(files.start, done) : false;
  const plan: Plan = { start, migrations: [], waiting: [] };
  for (const migration of files.migrations.filter(({ version }) => !done.has(version))) {
    const processes =
      migration.kind === 'expand'
        ? []
        : record.processes.filter(({ id, knows }) => id !== self && knows < migration.after);
    if (processes.length > 0) plan.waiting.push({ migration, processes });
    else plan.migrations.push(migration);
  }
  return plan;
}

function checkApplied(applied: Applied, own: Step | undefined, knows: number): void {
  if (own) {
    if (own.checksum === applied.checksum) return;
    throw new StartError(
      `The migration ${applied.name} was changed after the database had applied it: put the file back as it was, and write a new migration.`,
    );
  }
  const harmless = applied.kind === 'expand' || (applied.kind === 'contract' && (applied.after ?? Infinity) <= knows);
  if (!harmless)
    throw new Outdated(
      `The database has the migration ${applied.name}, which this version of Troupe does not know: start the newer version that made it.`,
    );
}

/** The last version that carries each of these migrations as a file of its own. */
export const LAST_WITH_ALL = 'commit 6db0c85 (before the section "One start, functions of their own" of CHANGELOG.md)';

/** Whether it is still to be applied: all of it, or nothing. */
function stateOfStart(start: Start, done: ReadonlySet<number>): boolean {
  const lacking = start.steps.filter(({ version }) => !done.has(version));
  if (lacking.length === 0) return false;
  if (lacking.length === start.steps.length && done.size === 0) return true;
  throw new StartError(
    `The database lacks ${lacking[0]?.name} and stands before ${start.steps.at(-1)?.name}, from where on this version of Troupe knows the way. ` +
      `Nothing was changed: start ${LAST_WITH_ALL} on it once, then this version.`,
  );
}
