import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import pg from 'pg';
import { emptyDatabase } from '@troupe/testing/database/server';
import { SECRETS } from '@troupe/testing/processes/backend';

const START = path.resolve(import.meta.dirname, '../../scripts/start.mjs');
const run = promisify(execFile);

/** For those who start services alone, and for the chart's Job. */
describe('a database is set up', () => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  before(async () => (database = await emptyDatabase()));
  after(() => database.drop());

  const setUp = (env: Record<string, string> = {}) =>
    run(process.execPath, [START, 'setup'], {
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', DATABASE_URL: database.url, ...SECRETS, ...env },
    });

  test('from nothing, with an owner whose password is told once', async () => {
    const first = await setUp({ BASE_URL: 'https://troupe.example.org', OWNER_EMAIL: 'ada@example.org' });
    assert.match(first.stdout, /Sign in at https:\/\/troupe\.example\.org\/login\. This password is shown only now:/);
    assert.match(first.stdout, /E-mail\s+ada@example\.org\n\s+Password\s+\S{20}/);
    assert.match((await setUp()).stdout, /The database is up to date\.\n$/);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query('select service from schema_processes');
    await client.end();
    assert.deepEqual(rows, [], 'it is no process that others wait for');
  });

  test('what cannot be done is one sentence and exit code 1', async () => {
    await assert.rejects(setUp({ DATABASE_URL: '' }), (error: Error & { code: number; stderr: string }) => {
      assert.match(error.stderr, /^DATABASE_URL must be set.*\n$/);
      return error.code === 1;
    });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(
      `insert into schema_migrations (version, name, checksum, kind) values (9999, '9999_tomorrow', '', 'contract')`,
    );
    await client.end();
    await assert.rejects(setUp(), (error: Error & { code: number; stderr: string }) => {
      assert.match(error.stderr, /9999_tomorrow/);
      return error.code === 1;
    });
  });
});
