import type pg from 'pg';
import { silentLog } from '@troupe/kernel';
import { clashesOf } from './functions.ts';
import { connectOnce } from './migrate.ts';
import { HOME, readSchemaFiles, type SchemaFiles } from './schema-files.ts';
import { peekRecord, planOf, readOldRecord, type SchemaRecord } from './schema-record.ts';

export interface UpgradeCheck {
  /** Of what this version would do to the database, and who works on it. */
  facts: string[];
  /** Why processes cannot be exchanged one by one; none: they can. */
  obstacles: string[];
}

/** Whether this version can be started beside the processes that run on the database. Changes nothing. */
export async function checkUpgrade(url: string, home = HOME): Promise<UpgradeCheck> {
  const files = await readSchemaFiles(home);
  const client = await connectOnce(url);
  try {
    const record = await peekRecord(client);
    if (record) return await compare(client, files, record);
    const migrations = await readOldRecord(client);
    planOf(files, { migrations, functions: [], processes: [] });
    if (migrations.length === 0) return { facts: ['The database is new.'], obstacles: [] };
    return {
      facts: [`The database stands at ${migrations.at(-1)?.name}.`],
      obstacles: [
        'What runs on it is of a version that cannot share the database with this one: stop all of it first.',
      ],
    };
  } finally {
    await client.end();
  }
}

async function compare(client: pg.Client, files: SchemaFiles, record: SchemaRecord): Promise<UpgradeCheck> {
  const { migrations, waiting } = planOf(files, record);
  const facts = [
    `The database stands at ${record.migrations.at(-1)?.name}.`,
    ...record.processes.map(
      ({ service, knows, release }) =>
        `${service} runs and knows migrations up to ${String(knows).padStart(4, '0')}${release === files.release ? ', as this version' : ''}.`,
    ),
    ...migrations.map(({ name, kind }) => `${name} (${kind}) is applied by the first process that starts.`),
    ...waiting.map(
      ({ migration, processes }) => `${migration.name} (contract) waits until ${processes.length} of them have ended.`,
    ),
  ];
  const obstacles: string[] = [];
  const silent = (await listening(client)) - record.processes.length;
  if (silent > 0)
    obstacles.push(`${silent} of the processes on the database do not say which version they are: stop them first.`);
  const others = record.processes.some(({ release }) => release !== files.release);
  const clashes = others
    ? await clashesOf(client, { functions: files.functions, recorded: record.functions, others, log: silentLog })
    : [];
  if (clashes.length > 0)
    obstacles.push(
      `Functions that running processes call cannot stand beside the new ones (${clashes.join(', ')}): stop all of them first.`,
    );
  return { facts, obstacles };
}

/** Every process with a database has one such connection, of whatever version it is. */
async function listening(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'troupe-listener'`,
  );
  return rows[0]?.count ?? 0;
}
