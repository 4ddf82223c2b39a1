import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '@troupe/kernel';

export type Kind = 'expand' | 'contract';

/** What the record of a database says of a migration. */
export interface Step {
  version: number;
  name: string;
  checksum: string;
}

export interface Migration extends Step {
  kind: Kind;
  /** Of a contract step: a process that knows this migration no longer needs what goes. */
  after: number;
  /** Its statements, when it runs outside of a transaction. */
  alone: string[] | undefined;
  sql: string;
}

export interface SqlFunction {
  name: string;
  checksum: string;
  /** Tables lean on it, so it is there before the migrations. */
  early: boolean;
  sql: string;
}

/** The tables as the first migrations left them, made at once in a new database. */
export interface Start {
  /** The migrations that it stands for. */
  steps: Step[];
  /** The functions that they left. */
  functions: string[];
  read: () => Promise<string>;
}

export interface SchemaFiles {
  start: Start | undefined;
  migrations: Migration[];
  functions: SqlFunction[];
  /** The highest number of a migration that this program has. */
  knows: number;
  /** Of all migrations and functions together: processes with another one are of another release. */
  release: string;
}

export const HOME = join(import.meta.dirname, '..');

export async function readSchemaFiles(home: string): Promise<SchemaFiles> {
  const [start, migrations, functions] = await Promise.all([
    readStart(join(home, 'migrations/start')),
    readMigrations(join(home, 'migrations')),
    readFunctions(join(home, 'functions')),
  ]);
  const knows = Math.max(0, ...[...(start?.steps ?? []), ...migrations].map(({ version }) => version));
  const early = migrations.find(({ version }) => start?.steps.some((step) => step.version >= version));
  if (early) throw new Error(`The start stands for all up to it already: give ${early.name} a higher number`);
  const release = sha256Hex([knows, ...functions.map(({ name, checksum }) => `${name} ${checksum}`)].join('\n'));
  return { start, migrations, functions, knows, release };
}

/** Files of another system end their lines otherwise, which is no change. */
const readSql = async (file: string): Promise<string> => (await readFile(file, 'utf8')).replaceAll('\r\n', '\n');

const sqlFilesOf = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = await sqlFilesOf(folder);
  const migrations = await Promise.all(
    files.map(async (file) => readMigration(file.replace(/\.sql$/, ''), await readSql(join(folder, file)))),
  );
  const twice = migrations.find(({ version }, index) => version === migrations[index - 1]?.version);
  if (twice) throw new Error(`Two migrations have the number ${twice.version}`);
  return migrations;
}

const HEAD =
  /^-- (?<kind>expand|contract)(?: after (?<after>\d{4}))?(?:, (?<alone>outside of a transaction))?(?:: .*)?\n/;

function readMigration(name: string, sql: string): Migration {
  const version = Number(/^(\d{4})_[a-z0-9_]+$/.exec(name)?.[1]);
  if (!version) throw new Error(`A migration is named NNNN_name.sql, not ${name}.sql`);
  const head = HEAD.exec(`${sql}\n`)?.groups;
  if (!head) throw new Error(`${name}: the first line says \`-- expand\` or \`-- contract\`, see CONTRIBUTING.md`);
  return {
    version,
    name,
    checksum: sha256Hex(sql),
    kind: head['kind'] as Kind,
    after: head['after'] ? Number(head['after']) : version,
    alone: head['alone'] ? statementsOf(name, sql) : undefined,
    sql,
  };
}

/** What can be told apart and done again: nothing undoes the first of them when the second fails. */
const ALONE = /^(create (unique )?index concurrently \w+ on |drop index concurrently if exists \w+$)/;

function statementsOf(name: string, sql: string): string[] {
  const statements = sql
    .replaceAll(/^\s*--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  const other = statements.find((statement) => !ALONE.test(statement));
  if (other !== undefined)
    throw new Error(
      `${name}: outside of a transaction there is only \`create index concurrently name on …\` and \`drop index concurrently if exists name\`, not ${other.slice(0, 60)}`,
    );
  return statements;
}

async function readFunctions(folder: string): Promise<SqlFunction[]> {
  const files = await sqlFilesOf(folder);
  return Promise.all(
    files.map(async (file) => {
      const name = file.replace(/\.sql$/, '');
      const sql = await readSql(join(folder, file));
      if (/^create or replace function (\w+)\(/m.exec(sql)?.[1] !== name || sql.split(/^create /m).length !== 2)
        throw new Error(`${file} has one statement: create or replace function ${name}(…)`);
      return { name, checksum: sha256Hex(sql), early: sql.startsWith('-- early\n'), sql };
    }),
  );
}

/** Each after those that it names: what is written in SQL is checked against them when it is made. */
export function byNeed(functions: readonly SqlFunction[]): SqlFunction[] {
  const all = new Map(functions.map((one) => [one.name, one]));
  const ordered = new Set<SqlFunction>();
  const seen = new Set<SqlFunction>();
  const visit = (one: SqlFunction): void => {
    if (seen.has(one)) return;
    seen.add(one);
    for (const word of new Set(one.sql.match(/\w+/g))) {
      const needed = all.get(word);
      if (needed) visit(needed);
    }
    ordered.add(one);
  };
  for (const one of functions) visit(one);
  return [...ordered];
}

async function readStart(folder: string): Promise<Start | undefined> {
  const about = await readFile(join(folder, 'stands-for.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (about === undefined) return undefined;
  const { migrations, functions } = JSON.parse(about) as { migrations: Record<string, string>; functions: string[] };
  const steps = Object.entries(migrations).map(([name, checksum]) => ({
    version: Number(name.slice(0, 4)),
    name,
    checksum,
  }));
  const read = async (): Promise<string> =>
    (await Promise.all((await sqlFilesOf(folder)).map((file) => readSql(join(folder, file))))).join('\n');
  return { steps, functions, read };
}
