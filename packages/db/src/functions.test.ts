import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { silentLog, StartError } from '@troupe/kernel';
import { migrate } from './migrate.ts';
import { emptyDatabase } from '@troupe/testing/database/server';

let url: string;
/** The files of two releases. */
let older: string;
let newer: string;

beforeEach(async (t) => {
  const database = await emptyDatabase();
  ({ url } = database);
  const home = await mkdtemp(join(tmpdir(), 'troupe-functions-'));
  [older, newer] = [join(home, 'older'), join(home, 'newer')];
  for (const release of [older, newer])
    for (const folder of ['migrations', 'functions']) await mkdir(join(release, folder), { recursive: true });
  (t as { after: (end: () => Promise<void>) => void }).after(async () => {
    await database.drop();
    await rm(home, { recursive: true, force: true });
  });
});

/** In both releases, unless one is named. */
async function put(name: string, sql: string, releases = [older, newer]): Promise<void> {
  for (const release of releases) await writeFile(join(release, `functions/${name}.sql`), sql);
}
const answer = (value: string, args = ''): string =>
  `create or replace function answer(${args}) returns text language sql as $$ select '${value}' $$;\n`;

async function run(release: string, id?: string): Promise<string[]> {
  const process = id ? { id, service: 'test' } : undefined;
  const { functions } = await migrate({ url, log: silentLog, home: release, process });
  // Nobody dies of silence here, however slow the machine is.
  if (id) await query(`update schema_processes set seen_at = now() + interval '1 hour' where id = '${id}'`);
  return functions;
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
const said = async (call: string): Promise<unknown> => (await query(`select ${call} as said`))[0]?.['said'];
const shapes = async (): Promise<unknown[]> =>
  (
    await query(
      `select oid::regprocedure::text as shape from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
    )
  ).map(({ shape }) => shape);
const ends = (id: string) => query(`delete from schema_processes where id = '${id}'`);
const sentence = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error));
  assert.match(error.message, pattern);
  return true;
};

describe('functions of the database', () => {
  test('are applied when their file is new or changed, and go with it', async () => {
    await put('answer', answer('one'), [older]);
    assert.deepEqual(await run(older), ['answer']);
    assert.deepEqual(await run(older), []);
    await put('answer', answer('two'), [older]);
    assert.deepEqual(await run(older), ['answer']);
    assert.equal(await said('answer()'), 'two');
    await rm(join(older, 'functions/answer.sql'));
    assert.deepEqual(await run(older), []);
    assert.deepEqual(await shapes(), []);
  });

  test('leave those alone that are not ours', async () => {
    await query(`create function theirs() returns int language sql as 'select 1'`);
    await put('answer', answer('one'));
    await run(older);
    assert.deepEqual(await shapes(), ['answer()', 'theirs()']);
  });

  test('each comes after those that it calls, and before the tables that lean on it', async () => {
    await put('answer', `create or replace function answer(t words) returns text language sql return loud(t.word);\n`);
    await put(
      'loud',
      `-- early\ncreate or replace function loud(w text) returns text language sql immutable return upper(w);\n`,
    );
    for (const release of [older, newer])
      await writeFile(
        join(release, 'migrations/0001_words.sql'),
        '-- expand\ncreate table words (word text, shout text generated always as (loud(word)) stored)',
      );
    assert.deepEqual(await run(older), ['answer']);
    await query(`insert into words values ('hush')`);
    assert.deepEqual(await query('select shout, answer(words) from words'), [{ shout: 'HUSH', answer: 'HUSH' }]);
  });

  test('one that fails leaves all as they were', async () => {
    await put('answer', answer('one'));
    await put('broken', `create or replace function broken() returns text language sql return 'fine';\n`);
    await run(older);
    await put('answer', answer('two'));
    await put('broken', `create or replace function broken() returns text language sql return nothing();\n`);
    await assert.rejects(
      run(older),
      sentence(/could not be renewed \(function nothing\(\) does not exist\): all are as/),
    );
    assert.equal(await said('answer()'), 'one');
  });

  test('what a table leans on is not dropped with its file', async () => {
    await put(
      'answer',
      `-- early\ncreate or replace function answer() returns text language sql immutable return 'x';\n`,
      [older],
    );
    await writeFile(join(older, 'migrations/0001_t.sql'), '-- expand\ncreate table t (a text default answer())');
    await run(older);
    await rm(join(older, 'functions/answer.sql'));
    await assert.rejects(run(older), sentence(/could not be renewed \(cannot drop function answer\(\)/));
  });

  test('those that go may lean on each other, and those that stay may have leant on them', async () => {
    await put('aa', `create or replace function aa() returns int language sql return 1;\n`);
    await put('bb', `create or replace function bb() returns int language sql return aa();\n`);
    await put('cc', `create or replace function cc() returns int language sql return bb();\n`);
    await put('dd', `create or replace function dd(n int) returns int language sql return n;\n`);
    await put('ee', `create or replace function ee() returns int language sql return dd(1);\n`);
    await run(older);
    for (const name of ['aa', 'bb']) await rm(join(older, `functions/${name}.sql`));
    await put('cc', `create or replace function cc() returns int language sql return 2;\n`, [older]);
    await put('dd', `create or replace function dd(n int, m int) returns int language sql return n + m;\n`, [older]);
    await put('ee', `create or replace function ee() returns int language sql return dd(1, 2);\n`, [older]);
    await run(older);
    assert.deepEqual(await shapes(), ['cc()', 'dd(integer,integer)', 'ee()']);
    assert.deepEqual([await said('cc()'), await said('ee()')], [2, 3]);
    assert.deepEqual(await query('select name from schema_functions where not current and shape is not null'), []);
  });

  test('a file with another name or a second statement is refused', async () => {
    await put('other', answer('one'));
    await assert.rejects(run(older), /other\.sql has one statement: create or replace function other/);
    await rm(join(older, 'functions/other.sql'));
    await put('answer', `${answer('one')}create table stowaway (n int);\n`);
    await assert.rejects(run(older), /answer\.sql has one statement/);
  });
});

describe('while a process of another release lives', () => {
  test('a function with other arguments stands beside the one that it calls, which goes after it', async () => {
    await put('answer', answer('one'), [older]);
    await put('answer', answer('two', 'a int'), [newer]);
    await run(older, 'old');
    await run(newer, 'new');
    assert.deepEqual([await said('answer()'), await said('answer(1)')], ['one', 'two']);
    assert.deepEqual(await run(older, 'old again'), [], 'an older process that starts now takes nothing back');
    assert.deepEqual(await shapes(), ['answer()', 'answer(integer)']);
    await ends('old');
    await run(newer, 'new');
    assert.deepEqual(await shapes(), ['answer()', 'answer(integer)'], 'the other old one lives');
    await ends('old again');
    await run(newer, 'new');
    assert.deepEqual(await shapes(), ['answer(integer)']);
  });

  test('an operator who goes back in the middle has the old shape again, and only that', async () => {
    await put('answer', answer('one'), [older]);
    await put('answer', answer('two', 'a int'), [newer]);
    await run(older, 'old');
    await run(newer, 'new');
    for (const id of ['old', 'new']) await ends(id);
    assert.deepEqual(await run(older, 'back'), ['answer']);
    assert.deepEqual([await shapes(), await said('answer()')], [['answer()'], 'one']);
    assert.deepEqual(await run(older, 'back'), []);
    await run(newer, 'forth');
    await ends('back');
    await run(newer, 'forth');
    assert.deepEqual([await shapes(), await said('answer(1)')], [['answer(integer)'], 'two']);
  });

  test('a function that is gone stays for it, and a new one is not dropped by it', async () => {
    await put('answer', answer('one'), [older]);
    await put('added', `create or replace function added() returns int language sql return 1;\n`, [newer]);
    await run(older, 'old');
    await run(newer, 'new');
    await run(older, 'old again');
    assert.deepEqual(await shapes(), ['added()', 'answer()']);
    for (const id of ['old', 'old again']) await ends(id);
    await run(newer, 'new');
    assert.deepEqual(await shapes(), ['added()']);
  });

  test('the newest one counts, whoever starts; alone an older release has its own again, and then the newer one', async () => {
    await put('answer', answer('one'), [older]);
    await put('answer', answer('two'), [newer]);
    await run(older, 'old');
    await run(newer, 'new');
    assert.deepEqual(await run(older, 'old again'), []);
    assert.equal(await said('answer()'), 'two');
    for (const id of ['old', 'new', 'old again']) await ends(id);
    await run(older, 'back');
    assert.equal(await said('answer()'), 'one', 'the operator went back');
    await run(newer, 'forth');
    assert.equal(await said('answer()'), 'two', 'and forth, while the older one runs');
  });

  test('what cannot stand beside it says who has to go first; without it it is replaced', async () => {
    await put('answer', answer('one', 'a int'), [older]);
    await run(older, 'old');
    for (const changed of [
      answer('two', 'a text'),
      answer('two', 'b int'),
      `create or replace function answer(a int) returns int language sql as $$ select 2 $$;\n`,
    ]) {
      await put('answer', changed, [newer]);
      await assert.rejects(
        run(newer, 'new'),
        sentence(/answer of this version cannot stand beside .*stop all of those/),
      );
      assert.equal(await said('answer(1)'), 'one');
    }
    await query(`update schema_processes set seen_at = now() - interval '1 hour'`);
    assert.deepEqual(await run(newer, 'new'), ['answer'], 'who was not heard of for long is dead');
    assert.equal(await said('answer(1)'), 2);
    assert.deepEqual(await query('select id from schema_processes'), [{ id: 'new' }]);
  });
});
