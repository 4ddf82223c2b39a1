import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import path from 'node:path';
import pg from 'pg';
import { readSources } from '@troupe/testing/sources/sources';
import { findUnguarded } from './catalogue.ts';
import { findUnused } from './unused.ts';
import { testDatabase } from '@troupe/testing/database/server';
import type { TestDatabase } from '@troupe/testing/database/server';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

test('every table of the migrations is guarded', async () => {
  assert.deepEqual(await findUnguarded(database.url), []);
});

test('every reference is found by an index: who deletes a row reads no other table from end to end', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ what: string }>(`
    select c.conrelid::regclass || ' → ' || c.confrelid::regclass || ' (' || c.conname || ')' as what from pg_constraint c
    -- accounts and holds of the ledger stay for ever
    where c.confrelid not in ('ledger_accounts'::regclass, 'ledger_holds'::regclass)
      and c.contype = 'f' and c.connamespace = 'public'::regnamespace and c.conparentid = 0 and not exists (
      select 1 from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = any(c.conkey)
        and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$'))
    order by 1`);
  await client.end();
  assert.deepEqual(rows, []);
});

const ROOT = path.join(import.meta.dirname, '../../..');
const SOURCES = readSources(ROOT)
  .filter(({ path: file }) => /^(packages|apps)\//.test(file) && !/\.test\.tsx?$/.test(file))
  .map(({ text }) => text)
  .join('\n');

test('every function of the migrations is called, and every column is named', async () => {
  assert.deepEqual(await findUnused(database.url, SOURCES), []);
});

test('the walker sees what nothing uses', async () => {
  const other = await testDatabase();
  const client = new pg.Client({ connectionString: other.url });
  await client.connect();
  await client.query(`
    create function forgotten_by_all() returns int language sql as 'select 1';
    create function helps_nobody_now() returns int language sql as 'select 1';
    create function spend_lock(twice int) returns int language sql as 'select helps_nobody_now()';
    create table attic (id int, dusty_old_thing int)`);
  await client.end();
  assert.deepEqual(await findUnused(other.url, SOURCES), [
    'attic.dusty_old_thing: no source names it',
    'forgotten_by_all(): nothing calls it',
    'spend_lock(): has more than one shape',
    'spend_lock(): has more than one shape',
  ]);
  await other.drop();
});

test('the walker sees each kind of unguarded table', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`
    create table bare (user_id text not null);
    grant select on bare to svc_user;
    create table enabled_only (user_id text not null);
    select own_by_user('enabled_only');
    alter table enabled_only no force row level security;
    create table careless (user_id text not null);
    select system_only('careless');
    create policy everything on careless to svc_user using (true);
    grant select on careless to svc_user;
    create table open_to_all (id int);
    select system_only('open_to_all');
    create policy anybody on open_to_all using (true);
    create view peephole as select * from enabled_only;
    grant select on peephole to svc_user;
    create table good (user_id text not null);
    select own_by_user('good');
    create table also_good (id text primary key);
    select own_by_user('also_good', 'id');
    create table secret (user_id text not null);
    select system_only('secret');
    create table catalogue (id int);
    select read_by_all('catalogue');
    create view window_pane with (security_invoker=true) as select * from good;
    grant select on window_pane to svc_user`);
  await client.end();
  assert.deepEqual(await findUnguarded(database.url), [
    'bare: no policy lets svc_system in',
    'bare: row-level security is not forced',
    'bare: svc_user reaches it, and no policy compares with app_user_id()',
    'careless: svc_user reaches it, and no policy compares with app_user_id()',
    'enabled_only: row-level security is not forced',
    'open_to_all: a policy is open to every role',
    'peephole: a view needs security_invoker, or it shows every row',
  ]);
});
