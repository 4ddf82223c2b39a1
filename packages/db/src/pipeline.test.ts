import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { silentLog } from '@troupe/kernel';
import { createDatabase } from './scopes.ts';
import type { Database } from './scopes.ts';
import { testDatabase } from '@troupe/testing/database/server';
import type { TestDatabase } from '@troupe/testing/database/server';

let database: TestDatabase;
let db: Database;
let owner: pg.Client;

before(async () => {
  database = await testDatabase();
  // One connection: what one query leaves behind, the next one would meet.
  db = createDatabase({ url: database.url, log: silentLog, poolSize: 1 });
  owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
});
after(async () => {
  await owner.end();
  await db.close();
  await database.drop();
});

const rows = async <T>(query: ReturnType<typeof sql<T>>): Promise<T[]> => (await query.execute(db.system)).rows;
const backend = async (): Promise<number> => {
  const [row] = await rows(sql<{ pid: number }>`select pg_backend_pid() as pid`);
  return row?.pid ?? 0;
};

describe('values', () => {
  test('arrive as the types say', async () => {
    const [row] = await rows(sql<Record<string, unknown>>`
      select 9007199254740993::int8 as big, array[1, 2]::int8[] as bigs, 1.50::numeric as exact, 7::int4 as small,
        '2026-02-03T04:05:06.789Z'::timestamptz as moment, '2026-02-03'::date as day, '\\x00ff'::bytea as bytes,
        '{"a":[1]}'::jsonb as doc, null::text as nothing, array['x', 'y,"'] as words, true as yes, ${'é\u{1f600}'}::text as text`);
    assert.deepEqual(row, {
      big: 9007199254740993n,
      bigs: [1n, 2n],
      exact: '1.50',
      small: 7,
      moment: new Date('2026-02-03T04:05:06.789Z'),
      day: '2026-02-03',
      bytes: Buffer.from([0, 255]),
      doc: { a: [1] },
      nothing: null,
      words: ['x', 'y,"'],
      yes: true,
      text: 'é\u{1f600}',
    });
  });

  test('leave as the columns want them', async () => {
    const moment = new Date('2026-02-03T04:05:06.789Z');
    const [row] = await rows(sql<Record<string, unknown>>`
      select ${2n ** 62n}::int8 as big, ${moment}::timestamptz as moment, ${Buffer.from([1, 0, 2])}::bytea as bytes,
        ${{ a: 'b' }}::jsonb as doc, ${JSON.stringify([1])}::jsonb as list, ${['x', null]}::text[] as words, ${null}::int as nothing`);
    assert.deepEqual(row, {
      big: 2n ** 62n,
      moment,
      bytes: Buffer.from([1, 0, 2]),
      doc: { a: 'b' },
      list: [1],
      words: ['x', null],
      nothing: null,
    });
  });

  test('one that cannot be sent fails alone, before anything is sent', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const pid = await backend();
    await assert.rejects(rows(sql`select ${circle}::jsonb`), /circular/);
    assert.equal(await backend(), pid);
  });
});

describe('statements', () => {
  test('are prepared once, and old ones are closed', async () => {
    const count = async () => {
      const [row] = await rows(sql<{ n: bigint }>`select count(*) as n from pg_prepared_statements`);
      return Number(row?.n);
    };
    const start = await count();
    for (let index = 0; index < 5; index += 1) await rows(sql`select ${index}::int as again`);
    assert.equal(await count(), start + 1);
    for (let index = 0; index < 250; index += 1) await rows(sql.raw(`select ${index} as different`));
    const most = await count();
    assert.ok(most <= 103, `${most} prepared statements`);
  });

  test('one that failed to parse is not taken for a prepared one', async () => {
    const query = () => rows(sql`select id from not_yet`);
    await assert.rejects(query(), /not_yet/);
    await assert.rejects(query(), /not_yet/);
    await owner.query(`create table not_yet (id int); select system_only('not_yet')`);
    assert.deepEqual(await query(), []);
  });

  test('a table that changes its shape does not break what was prepared', async () => {
    await owner.query(`create table shape (a int); select system_only('shape'); insert into shape values (1)`);
    const query = () => rows(sql`select * from shape`);
    assert.deepEqual(await query(), [{ a: 1 }]);
    await owner.query('alter table shape add b text default $$x$$');
    assert.deepEqual(await query(), [{ a: 1, b: 'x' }]);
    await owner.query('alter table shape drop a');
    assert.deepEqual(await query(), [{ b: 'x' }]);
  });

  test('prepared statements that vanished are prepared again', async () => {
    const query = () => rows(sql`select 'kept' as word`);
    await query();
    await sql`deallocate all`.execute(db.system);
    assert.deepEqual(await query(), [{ word: 'kept' }]);
  });

  test('the same text serves both roles', async () => {
    const who = sql<{ who: string }>`select current_user as who`;
    for (const expected of ['svc_user', 'svc_system', 'svc_user']) {
      const { rows } = await who.execute(expected === 'svc_user' ? db.user('ann') : db.system);
      assert.deepEqual(rows, [{ who: expected }]);
    }
  });
});

describe('faults', () => {
  test('a connection that the server ends is replaced, the query in flight fails', async () => {
    const pid = await backend();
    const inFlight = assert.rejects(rows(sql`select pg_sleep(20)`), /terminat/);
    for (;;) {
      const { rowCount } = await owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and query like '%pg_sleep%' and state = 'active'`,
        [pid],
      );
      if (rowCount) break;
    }
    await inFlight;
    assert.notEqual(await backend(), pid);
  });

  test('an idle connection that broke is not noticed by the next query', async () => {
    const pid = await backend();
    await owner.query('select pg_terminate_backend($1, 5000)', [pid]);
    // The end has to arrive before it can be known; until then a query on it was sent, and is not sent twice.
    while (db.stats().idle > 0) await new Promise((resolve) => setImmediate(resolve));
    assert.notEqual(await backend(), pid);
  });

  test('a query that finds its connection closed goes out on another one', async (t) => {
    // What a connection of pg has, and its types do not tell.
    type Opened = pg.Client & { connection: { stream: { destroy: () => void } } };
    const clients: Opened[] = [];
    // oxlint-disable-next-line typescript/unbound-method -- bound again by call
    const connect = pg.Client.prototype.connect as (this: pg.Client) => Promise<pg.Client>;
    t.mock.method(pg.Client.prototype, 'connect', async function (this: Opened) {
      await connect.call(this);
      clients.push(this);
      return this;
    });
    await owner.query('select pg_terminate_backend($1, 5000)', [await backend()]);
    while (db.stats().idle > 0) await new Promise((resolve) => setImmediate(resolve));
    const pid = await backend();
    clients[0]?.connection.stream.destroy();
    assert.notEqual(await backend(), pid);
    assert.equal(clients.length, 2, 'opened, found closed, opened anew');
    clients[1]?.connection.stream.destroy();
    assert.deepEqual(await db.asSystem(async (tx) => (await sql`select 1 as n`.execute(tx)).rows), [{ n: 1 }]);
  });

  test('a cancelled query fails, its connection goes on', async () => {
    const pid = await backend();
    const inFlight = assert.rejects(
      db.asUser('ann', (tx) => sql`select pg_sleep(20)`.execute(tx)),
      (error) => error instanceof pg.DatabaseError && error.code === '57014',
    );
    for (;;) {
      const { rowCount } = await owner.query(
        `select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and query like '%pg_sleep%' and state = 'active'`,
        [pid],
      );
      if (rowCount) break;
    }
    await inFlight;
    assert.equal(await backend(), pid);
  });

  test('a query that takes too long is ended by the server', async () => {
    const hasty = createDatabase({ url: database.url, log: silentLog, poolSize: 1, statementTimeoutMs: 100 });
    await assert.rejects(sql`select pg_sleep(20)`.execute(hasty.system), /statement timeout/);
    await hasty.close();
  });

  test('the stack of an error leads to the query', async () => {
    const askForTrouble = async () => {
      await rows(sql`select 1 / 0`);
    };
    await assert.rejects(askForTrouble(), (error: Error) => error.stack?.includes('askForTrouble') === true);
  });

  test('a server that is not there is a clear error', async () => {
    const nowhere = createDatabase({ url: 'postgresql://x@127.0.0.1:1/x', log: silentLog });
    await assert.rejects(nowhere.ping(), ({ cause }: Error) => String(cause).includes('ECONNREFUSED'));
    const away = { status: 503, headers: { 'retry-after': '2' } };
    await assert.rejects(sql`select 1`.execute(nowhere.system), away);
    await assert.rejects(
      nowhere.asSystem((tx) => sql`select 1`.execute(tx)),
      away,
    );
    await nowhere.close();
  });
});
