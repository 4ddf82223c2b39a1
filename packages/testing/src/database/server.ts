import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import * as contract from '@troupe/contract';
import type { Job } from '@troupe/contract';
import { randomHex, silentLog } from '@troupe/kernel';
import { createDatabase, installJobs, migrate, startEmbedded, type Database } from '@troupe/db';
import { serverFolder } from './memory.ts';

export interface TestServer {
  /** Of the template database; the test runner hands it to the tests as TEST_DATABASE_URL. */
  url: string;
  stop: () => Promise<void>;
}

export interface TestDatabase {
  db: Database;
  url: string;
  drop: () => Promise<void>;
}

/** Those that services would otherwise make at each start. */
const JOBS = Object.values<unknown>(contract).filter(
  (one): one is Job => typeof one === 'object' && one !== null && 'queue' in one && 'data' in one,
);

const IN_USE = '55006';
/** Nobody but a superuser may end the vacuum; every major version words it differently. */
const NOT_TO_BE_ENDED = '42501';

/** One server and one migrated template for a run of tests. `externalUrl`: any login that may create roles and databases. */
export async function prepareTestServer({ externalUrl }: { externalUrl?: string } = {}): Promise<TestServer> {
  if (externalUrl) return prepareTemplate(externalUrl, async () => {});
  const dataDir = await serverFolder();
  const server = await startEmbedded({ dataDir, log: silentLog, throwaway: true });
  return prepareTemplate(server.url, async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
}

async function prepareTemplate(serverUrl: string, stop: () => Promise<void>): Promise<TestServer> {
  const name = `troupe_template_${randomHex(4)}`;
  const url = withDatabase(serverUrl, name);
  try {
    await command(serverUrl, `create database ${name}`);
    await migrate({ url, log: silentLog });
    await installJobs(url, silentLog, JOBS);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    stop: async () => {
      // Those of tests that were killed included.
      const made = await command(serverUrl, `select datname from pg_database where starts_with(datname, '${name}')`);
      for (const { datname } of made) await command(serverUrl, `drop database ${datname} with (force)`);
      await stop();
    },
  };
}

/**
 * An empty, migrated database of its own: from the run's template, else on a server of its own. Copied file by file, which
 * takes a third of what it does to write each page into the server's log.
 */
export async function testDatabase({ poolSize = 5 }: { poolSize?: number } = {}): Promise<TestDatabase> {
  const server = await testServer();
  const template = databaseOf(server.url);
  const name = `${template}_${randomHex(6)}`;
  const url = withDatabase(server.url, name);
  const maintenance = withDatabase(server.url, 'postgres');
  await command(maintenance, `create database ${name} template ${template} strategy file_copy`);
  const db = createDatabase({ url, log: silentLog, poolSize });
  return {
    db,
    url,
    drop: async () => {
      await db.close();
      await command(maintenance, `drop database ${name} with (force)`);
      await server.stop();
    },
  };
}

/** A database with nothing in it, on the run's server, else on one of its own. */
export async function emptyDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = await testServer();
  const name = `${databaseOf(server.url)}_${randomHex(6)}`;
  const maintenance = withDatabase(server.url, 'postgres');
  await command(maintenance, `create database ${name}`);
  return {
    url: withDatabase(server.url, name),
    drop: async () => {
      await command(maintenance, `drop database ${name} with (force)`);
      await server.stop();
    },
  };
}

async function testServer(): Promise<TestServer> {
  // The only way in which the test runner can reach a test file.
  const given = process.env['TEST_DATABASE_URL'];
  return given ? { url: given, stop: async () => {} } : prepareTestServer();
}

const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function command(url: string, sql: string): Promise<{ datname?: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return (await client.query<{ datname?: string }>(sql)).rows;
      } catch (error) {
        if (!isVacuuming(error) || tries >= 50) throw error;
        await delay(20 * tries);
      }
    }
  } finally {
    await client.end();
  }
}

/** A database cannot be copied or dropped while the server's own vacuum works in it. */
const isVacuuming = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (error.code === IN_USE || error.code === NOT_TO_BE_ENDED);

/** A user for tests that only need there to be one. */
export async function testUser(
  db: Database,
  id: string,
  given: { plan?: string; status?: string } = {},
): Promise<string> {
  await sql`insert into users (id, email, name, plan, subscription_status, referral_code, created_at, updated_at)
    values (${id}, ${`${id}@test.example`}, ${id}, ${given.plan ?? null}, ${given.status ?? 'inactive'}, ${id}, now(), now())
    on conflict do nothing`.execute(db.system);
  return id;
}
