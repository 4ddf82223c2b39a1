import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { payoutJob } from '@troupe/contract';
import { silentLog, StartError } from '@troupe/kernel';
import { startEmbedded } from './embedded.ts';
import type { Embedded } from './embedded.ts';
import { createJobs, installJobs } from './jobs.ts';
import { migrate, ownMigrations } from './migrate.ts';
import { withDatabase } from './testing.ts';

let home: string;
let server: Embedded;
let superuser: pg.Client;
let url: string;
let directory: string;
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
  directory = await mkdtemp(join(home, 'migrations-'));
});

function as(user: string, of: string, database: string): string {
  const changed = new URL(withDatabase(of, database));
  changed.username = user;
  return changed.href;
}

const put = (name: string, sql: string) => writeFile(join(directory, `${name}.sql`), sql);
const run = (given = url) => migrate({ url: given, log: silentLog, directory });

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

  test('a changed one and an unknown one stop the start', async () => {
    await put('0001_first', 'create table steps (n int)');
    await put('0002_second', 'insert into steps values (2)');
    await run();
    await put('0001_first', 'create table steps (n bigint)');
    await assert.rejects(run(), sentence(/0001_first was changed after .*: put the file back/));
    await put('0001_first', 'create table steps (n int)');
    assert.deepEqual(await run(), []);
    await rm(join(directory, '0002_second.sql'));
    await assert.rejects(run(), sentence(/0002_second, which this version of Troupe does not know/));
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

  test('a wrong name and a number given twice are refused', async () => {
    await put('1_first', 'select 1');
    await assert.rejects(run(), /named NNNN_name\.sql/);
    await rm(join(directory, '1_first.sql'));
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

describe('a database of an older version', () => {
  /** As a version left it that had no migration after this number. */
  async function upTo(number: number): Promise<void> {
    const names = (await ownMigrations()).filter(({ version }) => version <= number).map(({ name }) => name);
    await migrate({ url, log: silentLog, only: new Set(names) });
    await installJobs(url, silentLog);
  }
  const update = () => migrate({ url, log: silentLog });
  const asSystem = (text: string) => query(`set role svc_system; ${text}`);
  const NOW = "'2026-01-01T00:00:00Z'";
  const addUser = () =>
    asSystem(`insert into users (id, email, name, referral_code, created_at, updated_at)
      values ('u', 'u@test.example', 'u', 'u', ${NOW}, ${NOW})`);

  test('with agents whose ids differ only in capitals is told which, and is left to the version before', async () => {
    await upTo(79);
    await addUser();
    await asSystem(`insert into agents (id, user_id, name) values
      ('Ada', 'u', 'a'), ('ada', 'u', 'a'), ('ben', 'u', 'b'), ('C-1', 'u', 'c'), ('c-1', 'u', 'c')`);
    const before = await query('select count(*) from schema_migrations');
    await assert.rejects(
      update(),
      sentence(/ids differ only in capitals \((Ada and ada|ada and Ada); (C-1 and c-1|c-1 and C-1)\)/),
    );
    assert.deepEqual(await query('select count(*) from schema_migrations'), before, 'not even the ones before it');
    await asSystem(`delete from agents where id in ('ada', 'c-1')`);
    assert.ok((await update()).includes('0082_agent_host_names'));
  });

  test('with memories in Chinese: their words are found', async () => {
    await upTo(78);
    await addUser();
    await asSystem(`insert into agents (id, user_id, name) values ('a', 'u', 'a');
      insert into agent_memory (id, user_id, agent_id, scope, content, created_at, updated_at, expires_at)
        values ('m', 'u', 'a', 'agent:a', '她最喜欢的饮料是绿茶', ${NOW}, ${NOW}, ${NOW})`);
    await update();
    const found = await query(`select id from agent_memory where search @@ to_tsquery('simple', '绿茶:*')`);
    assert.deepEqual(found, [{ id: 'm' }]);
  });

  /** The payouts that somebody works on, until there are so many. */
  async function worked(count: number): Promise<string[]> {
    const seen: string[] = [];
    const jobs = createJobs({ url, log: silentLog });
    const all = new Promise<void>((resolve) => {
      jobs.work(
        payoutJob,
        async ({ id }) => {
          seen.push(id);
          if (seen.length === count) resolve();
        },
        { concurrency: count },
      );
    });
    await jobs.start();
    await all;
    await jobs.stop();
    return seen.sort();
  }
  const open = () =>
    query(`select data ->> 'id' as id, retry_limit as tries, keep_until > now() + interval '9 years' as kept
      from pgboss.job where name = 'payout' and state < 'completed' order by 1`);
  const kept = (...ids: string[]) => ids.map((id) => ({ id, tries: 1_000_000, kept: true }));

  test('that owed before there were payouts: each of them is worked on, once', { timeout: 30_000 }, async () => {
    await upTo(84);
    await asSystem(`insert into ledger_accounts (id, asset, allow_negative, created_at) values
      ('wallet', 'USD', true, ${NOW}), ('owed:0xa', 'USD', false, ${NOW}), ('owed:0xb', 'USD', false, ${NOW})`);
    for (const id of ['a', 'b'])
      await asSystem(`select ledger_post('agent-payment:${id}', '${id}', 'agent-payment', '{"recipient": "0x${id}"}',
        '[{"account": "wallet", "amount": -5}, {"account": "owed:0x${id}", "amount": 5}]', ${NOW})`);
    await update();
    assert.deepEqual(await open(), kept('a', 'b'));
    assert.deepEqual(await worked(2), ['a', 'b']);
  });

  test('that has jobs for some payouts gets those that lack', { timeout: 30_000 }, async () => {
    await upTo(86);
    const jobs = createJobs({ url, log: silentLog });
    jobs.define(payoutJob);
    await jobs.start();
    await jobs.stop();
    await asSystem(`insert into payouts (id, address, units, status, transaction_hash, created_at, updated_at) values
      ('has', '0x1', 1, 'owed', null, ${NOW}, ${NOW}), ('lacks', '0x1', 1, 'owed', null, ${NOW}, ${NOW}),
      ('sent', '0x1', 1, 'sent', '0x2', ${NOW}, ${NOW}), ('paid', '0x1', 1, 'paid', '0x3', ${NOW}, ${NOW})`);
    await query(`insert into pgboss.job (name, data, retry_limit, keep_until) values
      ('payout', '{"id": "has"}', 1000000, now() + interval '10 years')`);
    await update();
    assert.deepEqual(await open(), kept('has', 'lacks', 'sent'));
    assert.deepEqual(await worked(3), ['has', 'lacks', 'sent']);
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
    await cp(join(import.meta.dirname, '../migrations'), directory, { recursive: true });
    assert.ok((await run(given)).includes('0001_foundation'));
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
