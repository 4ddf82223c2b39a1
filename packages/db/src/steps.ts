import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { StartError, type Log } from '@troupe/kernel';
import { makeNew } from './functions.ts';
import type { Migration, SchemaFiles, Step } from './schema-files.ts';

/**
 * Whoever waits for the lock of a table lets everybody else wait behind it. So a migration gives up soon, and tries again
 * a little later, when what it waited for is perhaps done.
 */
export interface Patience {
  lockMs: number;
  restMs: number;
  tries: number;
}

/**
 * Well below the second after which the server looks for a deadlock and ends whoever looked first: that would be a request
 * of somebody, which waits for one table while we wait for another of its own.
 */
export const PATIENCE: Patience = { lockMs: 400, restMs: 600, tries: 180 };

const LOCKED: ReadonlySet<unknown> = new Set(['55P03', '40P01']);

const insertStep = async (client: pg.Client, steps: readonly (Step & Partial<Migration>)[]): Promise<void> => {
  await client.query(
    `insert into public.schema_migrations (version, name, checksum, kind, "after")
     select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::int[])`,
    [
      steps.map(({ version }) => version),
      steps.map(({ name }) => name),
      steps.map(({ checksum }) => checksum),
      steps.map(({ kind }) => kind ?? null),
      steps.map(({ after }) => after ?? null),
    ],
  );
};

async function inTransaction(client: pg.Client, lockMs: number, work: () => Promise<void>): Promise<void> {
  try {
    await client.query(`begin; set local lock_timeout = ${lockMs}`);
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Everything up to the last of the migrations that it stands for, and their record. */
export async function applyStart(client: pg.Client, { start, functions }: SchemaFiles): Promise<string[]> {
  if (!start) return [];
  const early = functions.filter((one) => one.early);
  const sql = await start.read();
  try {
    await inTransaction(client, 0, async () => {
      await makeNew(client, early);
      await client.query(sql);
      await insertStep(client, start.steps);
    });
  } catch (cause) {
    throw new StartError(`The tables could not be made (${(cause as Error).message}): nothing was changed.`, { cause });
  }
  return start.steps.map(({ name }) => name);
}

export async function applyMigration(
  client: pg.Client,
  migration: Migration,
  log: Log,
  { lockMs, restMs, tries }: Patience,
): Promise<void> {
  if (migration.alone) await applyAlone(client, migration, migration.alone);
  else
    for (let left = tries - 1; ; left -= 1) {
      try {
        await inTransaction(client, lockMs, async () => {
          await client.query(migration.sql);
          await insertStep(client, [migration]);
        });
        break;
      } catch (cause) {
        const locked = LOCKED.has((cause as { code?: string }).code);
        if (!locked || left <= 0) throw failed(migration, cause, locked);
        log.warn({ migration: migration.name }, 'a migration waits for a table that is in use');
        await delay(restMs);
      }
    }
  log.info({ migration: migration.name, kind: migration.kind }, 'migration applied');
}

const failed = ({ name }: Step, cause: unknown, locked: boolean): StartError =>
  new StartError(
    locked
      ? `The migration ${name} found a table in use for too long, and changed nothing: end the long transaction (pg_stat_activity shows it) and start again.`
      : `The migration ${name} failed and was undone (${(cause as Error).message}): nothing was changed.`,
    { cause },
  );

/**
 * Statements that the server runs in no transaction, each once: one that is there is passed over, one that broke off
 * half way is made anew. They hold up no reader and no writer, so they may wait as long as it takes.
 */
async function applyAlone(client: pg.Client, migration: Migration, statements: readonly string[]): Promise<void> {
  try {
    for (const statement of statements) {
      const made = /^create (?:unique )?index concurrently (\w+)/.exec(statement)?.[1];
      const state = made === undefined ? 'none' : await stateOfIndex(client, made);
      if (state === 'broken') await client.query(`drop index concurrently public.${made}`);
      if (state !== 'whole') await client.query(statement);
    }
  } catch (cause) {
    throw new StartError(
      `The migration ${migration.name} broke off (${(cause as Error).message}): the next start goes on with it.`,
      { cause },
    );
  }
  await insertStep(client, [migration]);
}

async function stateOfIndex(client: pg.Client, name: string): Promise<'none' | 'broken' | 'whole'> {
  const { rows } = await client.query<{ whole: boolean }>(
    `select indisvalid as whole from pg_index where indexrelid = to_regclass('public.' || quote_ident($1))`,
    [name],
  );
  if (!rows[0]) return 'none';
  return rows[0].whole ? 'whole' : 'broken';
}
