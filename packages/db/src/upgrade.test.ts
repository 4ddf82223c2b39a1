import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { silentLog, StartError } from '@troupe/kernel';
import { migrate } from './migrate.ts';
import { pictureOf } from './picture.ts';
import { HOME, readSchemaFiles } from './schema-files.ts';
import { emptyDatabase } from '@troupe/testing/database/server';

/**
 * What commit 6db0c85 made of an empty database, the last version that had a file for each of its migrations up to 0118:
 * `pg_dump` of it without comments, record included. On PostgreSQL 15 and 18 it was compared with the real one, and
 * was the same in every line of `pictureOf`.
 */
const OLD = gunzipSync(await readFile(join(HOME, 'tests/database-0118.sql.gz'))).toString();

let url: string;
beforeEach(async (t) => {
  const database = await emptyDatabase();
  ({ url } = database);
  (t as { after: (end: () => Promise<void>) => void }).after(database.drop);
});

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results = await client.query<Record<string, unknown>>(text);
    return [results].flat().at(-1)?.rows ?? [];
  } finally {
    await client.end();
  }
}

/** The roles are there before the tables that are given to them. */
async function makeOld(): Promise<void> {
  await migrate({ url, log: silentLog, only: new Set() });
  await query('drop table schema_migrations, schema_functions, schema_processes');
  await query(OLD);
}

const NOW = "'2026-01-01T00:00:00Z'";
const PERSON = `set role svc_system;
  insert into users (id, email, name, referral_code, created_at, updated_at) values ('u', 'u@test.example', 'u', 'u', ${NOW}, ${NOW});
  insert into agents (id, user_id, name) values ('a', 'u', 'a');
  insert into agent_memory (id, user_id, agent_id, scope, content, created_at, updated_at, expires_at)
    values ('m', 'u', 'a', 'agent:a', '她最喜欢的饮料是绿茶', ${NOW}, ${NOW}, ${NOW})`;
const FOUND = `set role svc_system; select id from agent_memory where search @@ to_tsquery('simple', '绿茶:*')`;

describe('a database that has all migrations up to 0118', () => {
  test('goes on, keeps its rows, and ends up as a new one', async (t) => {
    await makeOld();
    await query(PERSON);
    const before = await query('select version, name, checksum, applied_at from schema_migrations order by version');
    assert.equal(before.length, 46);
    const { applied } = await migrate({ url, log: silentLog });
    const { start, migrations, functions } = await readSchemaFiles(HOME);
    assert.deepEqual(
      applied,
      migrations.map(({ name }) => name),
    );
    const after = await query('select version, name, checksum, applied_at from schema_migrations order by version');
    assert.deepEqual(after.slice(0, start?.steps.length), before, 'what was recorded stays as it was');
    assert.deepEqual(await query(FOUND), [{ id: 'm' }]);

    const fresh = await emptyDatabase();
    t.after(fresh.drop);
    await migrate({ url: fresh.url, log: silentLog });
    assert.deepEqual(await pictureOf(url), await pictureOf(fresh.url));
    const recorded = 'select name, checksum, shape, current from schema_functions where current order by name';
    const made = await query(recorded);
    assert.deepEqual(
      made.map(({ name }) => name),
      functions.map(({ name }) => name).sort(),
    );
    url = fresh.url;
    assert.deepEqual(await query(recorded), made);
    assert.deepEqual(
      (await query('select version, name, checksum from schema_migrations order by version')).length,
      after.length,
    );
  });

  test('is not changed by looking: the picture tells one thing that differs', async () => {
    await makeOld();
    const before = await pictureOf(url);
    for (const change of [
      'alter table agents alter column model drop default',
      'alter table users add check (length(name) < 100000)',
      'drop index agents_by_team',
      'alter table agents no force row level security',
      'drop policy user_rows on sessions',
      'grant delete on audit_log to svc_user',
      'revoke update (name) on users from svc_user',
      'drop trigger prune_sessions on sessions',
      'alter sequence audit_log_id_seq increment by 2',
      `create or replace function iso_text(at timestamptz) returns text language sql immutable as $$ select 'x' $$`,
    ]) {
      await query(change);
      const now = await pictureOf(url);
      assert.notDeepEqual(now, before, change);
      before.splice(0, before.length, ...now);
    }
  });
});

const refused = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error));
  assert.match(error.message, pattern);
  return true;
};

test('a database that is only as new as a backup is brought up to date by the next start', async (t) => {
  const { start } = await readSchemaFiles(HOME);
  const only = new Set(start?.steps.map(({ name }) => name));
  assert.deepEqual((await migrate({ url, log: silentLog, only })).functions, []);
  await query(PERSON);
  assert.deepEqual(await query(FOUND), [{ id: 'm' }], 'tables have what they lean on');
  await migrate({ url, log: silentLog });
  const fresh = await emptyDatabase();
  t.after(fresh.drop);
  await migrate({ url: fresh.url, log: silentLog });
  assert.deepEqual(await pictureOf(url), await pictureOf(fresh.url));
});

describe('a database that stands between', () => {
  test('is told which version to go through, and is left as it is', async () => {
    await makeOld();
    await query('delete from schema_migrations where version > 87');
    await query('drop table access_requests');
    const before = [await pictureOf(url), await query('select * from schema_migrations order by version')];
    const said =
      /lacks 0090_notice_mails and stands before 0118_live.*Nothing was changed: start commit 6db0c85 .*once, then this/;
    await assert.rejects(migrate({ url, log: silentLog }), refused(said));
    assert.deepEqual([await pictureOf(url), await query('select * from schema_migrations order by version')], before);
  });

  test('one that lacks a single migration in the middle is no different', async () => {
    await makeOld();
    await query('delete from schema_migrations where version = 100');
    await assert.rejects(migrate({ url, log: silentLog }), refused(/lacks 0100_credentials_end/));
  });

  test('one with a changed migration is told so', async () => {
    await makeOld();
    await query(`update schema_migrations set checksum = 'other' where version = 100`);
    await assert.rejects(migrate({ url, log: silentLog }), refused(/0100_credentials_end was changed after/));
  });
});
