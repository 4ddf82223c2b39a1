import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, test, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { signal } from '@troupe/contract';
import { silentLog } from '@troupe/kernel';
import { migrate, type Migrated } from './migrate.ts';
import { createListener } from './notifications.ts';
import { remainMember, type MemberOptions } from './processes.ts';
import { Outdated } from './schema-record.ts';
import { createDatabase } from './scopes.ts';
import { emptyDatabase } from '@troupe/testing/database/server';
import { checkUpgrade } from './upgrade-check.ts';

/**
 * Three releases: the first uses `old`, the second does without it, the third takes it away, for which whoever knows 0002
 * is ready.
 */
let url: string;
let home: string;
const release = (number: 1 | 2 | 3): string => join(home, String(number));

beforeEach(async (t) => {
  const database = await emptyDatabase();
  ({ url } = database);
  home = await mkdtemp(join(tmpdir(), 'troupe-processes-'));
  await mkdir(join(release(1), 'migrations'), { recursive: true });
  await mkdir(join(release(1), 'functions'));
  const put = (number: 1 | 2 | 3, name: string, text: string) =>
    writeFile(join(release(number), `migrations/${name}.sql`), text);
  await put(1, '0001_first', '-- expand\ncreate table things (id int, old text)');
  await writeFile(
    join(release(1), 'functions/answer.sql'),
    'create or replace function answer() returns int language sql return 1;\n',
  );
  await cp(release(1), release(2), { recursive: true });
  await put(2, '0002_second', '-- expand: what `old` said is said by `new`\nalter table things add column new text');
  await cp(release(2), release(3), { recursive: true });
  await put(3, '0003_third', '-- contract after 0002\nalter table things drop column old');
  (t as TestContext).after(async () => {
    await database.drop();
    await rm(home, { recursive: true, force: true });
  });
});

async function start(number: 1 | 2 | 3, id: string): Promise<Migrated> {
  const done = await migrate({ url, log: silentLog, home: release(number), process: { id, service: 'web' } });
  // Nobody dies of silence here, however slow the machine is.
  await query(`update schema_processes set seen_at = now() + interval '1 hour' where id = '${id}'`);
  return done;
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
const enrolled = async (): Promise<unknown[]> =>
  (await query('select id from schema_processes order by id')).map(({ id }) => id);
const columns = async (): Promise<unknown[]> =>
  (await query(`select column_name from information_schema.columns where table_name = 'things' order by 1`)).map(
    ({ column_name: name }) => name,
  );

/** A process whose heart beats fast. */
function member(t: TestContext, number: 1 | 2 | 3, id: string, given: Partial<MemberOptions> = {}) {
  const db = createDatabase({ url, log: silentLog, poolSize: 1 });
  const again = () => start(number, id);
  const onLost = (error: unknown) => assert.fail(String(error));
  const heart = remainMember({ db, log: silentLog, id, waits: false, again, onLost, beatMs: 20, ...given });
  let open = true;
  const end = async (): Promise<void> => {
    if (!open) return;
    open = false;
    await heart.close();
    await db.close();
  };
  t.after(end);
  return end;
}

describe('what takes something away', () => {
  test('waits for processes that still need it, and is done by who runs when they have ended', async (t) => {
    await start(1, 'first');
    const end = member(t, 1, 'first');
    assert.deepEqual(await start(2, 'second'), { applied: ['0002_second'], functions: [], waits: true });
    const { applied, waits } = await start(3, 'third');
    assert.deepEqual([applied, waits], [[], true]);
    member(t, 3, 'third', { waits });
    // Several beats of the one that waits, while the other lives.
    const seen = async () =>
      (await query(`select seen_at::text as at from schema_processes where id = 'third'`))[0]?.['at'];
    for (let beats = 0, last = await seen(); beats < 3; await delay(5)) {
      const now = await seen();
      if (now !== last) [beats, last] = [beats + 1, now];
    }
    assert.deepEqual(await columns(), ['id', 'new', 'old'], 'the first release lives and reads it');
    await end();
    await query(`delete from schema_processes where id = 'second'`);
    while ((await columns()).length > 2) await delay(10);
    assert.deepEqual(await columns(), ['id', 'new']);
  });

  test('does not wait for processes that can do without it', async () => {
    await start(1, 'first');
    await start(2, 'second');
    await query(`delete from schema_processes where id = 'first'`);
    const { applied, waits } = await start(3, 'third');
    assert.deepEqual([applied, waits], [['0003_third'], true]);
    assert.deepEqual((await start(2, 'second again')).applied, [], 'which may also start on it later');
    await assert.rejects(start(1, 'first again'), /0003_third, which this version of Troupe does not know/);
  });

  test('who was taken for dead meanwhile and needs it is told', async (t) => {
    await start(1, 'first');
    await query(`update schema_processes set seen_at = now() - interval '1 hour'`);
    assert.deepEqual((await start(3, 'third')).applied, ['0002_second', '0003_third']);
    assert.deepEqual(await enrolled(), ['third']);
    const lost = new Promise((resolve) => {
      member(t, 1, 'first', { onLost: resolve });
    });
    assert.ok((await lost) instanceof Outdated);
  });
});

describe('a process on record', () => {
  test('is seen while it lives, and not any more when it ended', async (t) => {
    await start(1, 'first');
    const end = member(t, 1, 'first');
    await query(`update schema_processes set seen_at = now() - interval '1 hour'`);
    while ((await query(`select from schema_processes where seen_at > now() - interval '1 minute'`)).length === 0)
      await delay(10);
    await end();
    assert.deepEqual(await enrolled(), []);
  });

  test('enrols again when it was forgotten, and the database is still one for it', async (t) => {
    await start(1, 'first');
    const end = member(t, 1, 'first');
    await query('delete from schema_processes');
    while ((await enrolled()).length === 0) await delay(10);
    assert.deepEqual(await enrolled(), ['first']);
    // It may still be at it: the database goes after it.
    await end();
  });

  test('that nobody can be beside is not waited for', async () => {
    await start(1, 'killed');
    const { waits } = await migrate({ url, log: silentLog, home: release(3), alone: true });
    assert.equal(waits, false);
    assert.deepEqual(await columns(), ['id', 'new']);
  });
});

describe('the check before an update', () => {
  test('says what would be done and who works on the database, and does nothing', async () => {
    assert.deepEqual(await checkUpgrade(url, release(1)), { facts: ['The database is new.'], obstacles: [] });
    await start(1, 'first');
    assert.deepEqual(await checkUpgrade(url, release(3)), {
      facts: [
        'The database stands at 0001_first.',
        'web runs and knows migrations up to 0001.',
        '0002_second (expand) is applied by the first process that starts.',
        '0003_third (contract) waits until 1 of them have ended.',
      ],
      obstacles: [],
    });
    assert.deepEqual(await columns(), ['id', 'old']);
    await start(2, 'second');
    const { facts } = await checkUpgrade(url, release(2));
    assert.ok(facts.includes('web runs and knows migrations up to 0002, as this version.'), facts.join('\n'));
  });

  test('says what cannot share the database', async (t) => {
    await start(1, 'first');
    await writeFile(
      join(release(2), 'functions/answer.sql'),
      'create or replace function answer() returns text language sql return 1;\n',
    );
    const { obstacles } = await checkUpgrade(url, release(2));
    assert.match(
      obstacles.join('\n'),
      /^Functions that running processes call cannot stand beside the new ones \(answer\)/,
    );
    await query('delete from schema_processes');
    const listener = createListener({ url, log: silentLog });
    t.after(() => listener.close());
    listener.on(signal({ channel: 'anything', payload: z.string(), as: 'text' }), () => {});
    const said = async () => (await checkUpgrade(url, release(1))).obstacles.join('\n');
    while ((await said()) === '') await delay(10);
    assert.match(await said(), /^1 of the processes on the database do not say which version they are/);
    await query('drop table schema_functions');
    assert.match(await said(), /is of a version that cannot share the database/);
  });
});
