import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { silentLog, StartError } from '@troupe/kernel';
import { startEmbedded } from './embedded.ts';
import type { Embedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { HOME } from './schema-files.ts';
import { withDatabase } from '@troupe/testing/database/server';

let home: string;
let server: Embedded;
let superuser: pg.Client;
let url: string;
let files: string;
let made = 0;

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'troupe-migrate-'));
  server = await startEmbedded({ dataDir: join(home, '.'), log: silentLog, throwaway: true });
  superuser = new pg.Client({ connectionString: as('postgres', server.url, 'postgres') });
  await superuser.connect();
});
after(async () => {
  await superuser.end();
  await server.stop();
  await rm(home, { recursive: true, force: true });
});
beforeEach(async () => {
  made += 1;
  await superuser.query(`create database m${made} owner troupe`);
  url = withDatabase(server.url, `m${made}`);
  files = await mkdtemp(join(home, 'files-'));
  for (const folder of ['migrations', 'functions']) await mkdir(join(files, folder));
});

function as(user: string, of: string, database: string): string {
  const changed = new URL(withDatabase(of, database));
  changed.username = user;
  return changed.href;
}

const put = (name: string, sql: string, head = '-- expand\n') =>
  writeFile(join(files, 'migrations', `${name}.sql`), head + sql);
const patience = { lockMs: 50, restMs: 20, tries: 3 };
const run = async (given = url, tries = patience.tries) =>
  (await migrate({ url: given, log: silentLog, home: files, patience: { ...patience, tries } })).applied;

/** As on a server that has never seen us; databases made before keep what refers to them. */
async function hideRoles(): Promise<void> {
  for (const role of ['svc_user', 'svc_system']) await superuser.query(`alter role ${role} rename to ${role}_${made}`);
}

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Sees everybody's locks in the database of the test. */
async function superuserOf<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: as('postgres', url, `m${made}`) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const sentence = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error));
  assert.match(error.message, pattern);
  return true;
};

describe('migrations', () => {
  test('are applied in the order of their numbers, each once, also one that comes late', async () => {
    await put('0002_second', 'insert into steps values (2)');
    await put('0001_first', 'create table steps (n int); insert into steps values (1)');
    assert.deepEqual(await run(), ['0001_first', '0002_second']);
    assert.deepEqual(await run(), []);
    await put('0010_tenth', 'insert into steps values (10)');
    assert.deepEqual(await run(), ['0010_tenth']);
    await put('0005_fifth', 'insert into steps values (5)');
    assert.deepEqual(await run(), ['0005_fifth']);
    assert.deepEqual(await query('select array_agg(n) as n from steps'), [{ n: [1, 2, 10, 5] }]);
  });

  test('one that fails changes nothing, those before it stay', async () => {
    await put('0001_first', 'create table steps (n int)');
    await put('0002_second', 'insert into steps values (2); insert into nowhere values (1)');
    await assert.rejects(run(), sentence(/0002_second failed and was undone \(relation "nowhere" does not exist\)/));
    assert.deepEqual(await query('select n from steps'), []);
    assert.deepEqual(await query('select version from schema_migrations'), [{ version: 1 }]);
    await put('0002_second', 'insert into steps values (2)');
    assert.deepEqual(await run(), ['0002_second']);
  });

  test('a changed one stops the start', async () => {
    await put('0001_first', 'create table steps (n int)');
    await run();
    await put('0001_first', 'create table steps (n bigint)');
    await assert.rejects(run(), sentence(/0001_first was changed after .*: put the file back/));
    await put('0001_first', 'create table steps (n int)');
    assert.deepEqual(await run(), []);
  });

  test('of those of a newer version, one that takes something away stops the start', async () => {
    await put('0001_first', 'create table steps (n int)');
    await put('0002_second', 'create table more (n int)');
    await put('0003_third', 'drop table more', '-- contract after 0001\n');
    await run();
    for (const file of ['0002_second', '0003_third']) await rm(join(files, `migrations/${file}.sql`));
    assert.deepEqual(await run(), [], 'who knows 0001 can do without it');
    await put('0004_fourth', 'drop table steps', '-- contract\n');
    await run();
    await rm(join(files, 'migrations/0004_fourth.sql'));
    await assert.rejects(run(), sentence(/0004_fourth, which this version of Troupe does not know/));
  });

  test('line ends of another system are no change', async () => {
    await put('0001_first', 'create table steps (n int);\ninsert into steps values (1);\n');
    await run();
    await put('0001_first', 'create table steps (n int);\r\ninsert into steps values (1);\r\n');
    assert.deepEqual(await run(), []);
  });

  test('many starts at once apply each one once', async () => {
    await put('0001_first', 'create table steps (n int)');
    await put('0002_second', 'insert into steps values (2); select pg_sleep(0.1)');
    const applied = await Promise.all(Array.from({ length: 5 }, () => run()));
    assert.deepEqual(applied.flat().sort(), ['0001_first', '0002_second']);
    assert.deepEqual(await query('select n from steps'), [{ n: 2 }]);
  });

  test('a table in use: nobody waits long behind the migration, and it is done when the table is free', async () => {
    await put('0001_first', 'create table busy (n int)');
    await run();
    await put('0002_second', 'alter table busy add column m int');
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query('begin; select from busy');
    await assert.rejects(run(), sentence(/0002_second found a table in use for too long, and changed nothing/));
    const waiting = run(url, 1_000);
    // It asks for the table again and again, so that it is seen to wait before the table is given back.
    const waits = `select from pg_locks where not granted and relation = 'busy'::regclass`;
    while ((await superuserOf((client) => client.query(waits))).rowCount === 0) await delay(5);
    await other.query('commit');
    await other.end();
    assert.deepEqual(await waiting, ['0002_second']);
  });

  test('indexes of large tables are made outside of a transaction, and again when that broke off', async () => {
    await put('0001_first', 'create table large (n int); insert into large values (1), (1)');
    await run();
    const head = '-- expand, outside of a transaction: it holds up no writer\n';
    const sql =
      'create unique index concurrently large_n on large (n);\ncreate index concurrently large_m on large (n);';
    await put('0002_second', sql, head);
    await assert.rejects(run(), sentence(/0002_second broke off .*: the next start goes on with it/));
    const indexes = `select relname, indisvalid from pg_index join pg_class on pg_class.oid = indexrelid
      where indrelid = 'large'::regclass order by 1`;
    assert.deepEqual(await query(indexes), [{ relname: 'large_n', indisvalid: false }], 'left broken by the server');
    await query('delete from large where ctid = (select min(ctid) from large)');
    assert.deepEqual(await run(), ['0002_second']);
    assert.deepEqual(await query(indexes), [
      { relname: 'large_m', indisvalid: true },
      { relname: 'large_n', indisvalid: true },
    ]);
    await put('0003_third', 'drop index concurrently if exists large_m;', head);
    assert.deepEqual((await Promise.all([run(), run(), run()])).flat(), ['0003_third'], 'who waits holds it up not');
    await put('0004_fourth', 'delete from large;', head);
    await assert.rejects(run(), /outside of a transaction there is only/);
  });

  test('one that does not say what it does to older processes is refused', async () => {
    await put('0001_first', 'select 1', '-- Adds nothing.\n');
    await assert.rejects(run(), /0001_first: the first line says `-- expand` or `-- contract`/);
  });

  test('a wrong name and a number given twice are refused', async () => {
    await put('1_first', 'select 1');
    await assert.rejects(run(), /named NNNN_name\.sql/);
    await rm(join(files, 'migrations/1_first.sql'));
    await put('0001_first', 'select 1');
    await put('0001_other', 'select 1');
    await assert.rejects(run(), /number 1/);
  });

  test('a server that does not answer is one sentence without the password', async () => {
    await assert.rejects(run('postgresql://x:hush@127.0.0.1:1/x'), (error: Error) => {
      assert.doesNotMatch(error.message, /hush/);
      return sentence(/The database x at 127\.0\.0\.1:1 cannot be opened .*check DATABASE_URL/)(error);
    });
  });
});

describe('the login role', () => {
  test('without the right to make roles is told what to run, and running it helps', async () => {
    await hideRoles();
    await superuser.query(`create role plain login; alter database m${made} owner to plain`);
    const given = as('plain', url, `m${made}`);
    let advice = '';
    await assert.rejects(run(given), (error: Error) => {
      advice = /`(.+)`/.exec(error.message)?.[1] ?? '';
      return sentence(/login "plain" may not set up the roles .* run as a superuser/)(error);
    });
    await superuser.query(advice);
    for (const folder of ['migrations', 'functions'])
      await cp(join(HOME, folder), join(files, folder), { recursive: true });
    assert.ok((await run(given)).includes('0001_foundation'));
    assert.deepEqual(await run(given), []);
  });

  test('roles made by nobody yet are made by all starts at once, in many databases', async () => {
    await hideRoles();
    const urls = [];
    for (const name of ['r1', 'r2', 'r3', 'r4']) {
      await superuser.query(`create database ${name} owner troupe`);
      urls.push(withDatabase(server.url, name));
    }
    await put('0001_first', 'select 1');
    const applied = await Promise.all(urls.map((one) => run(one)));
    assert.equal(applied.flat().length, 4);
  });
});
