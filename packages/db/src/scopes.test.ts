import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Generated, Kysely } from 'kysely';
import pg from 'pg';
import { silentLog } from '@troupe/kernel';
import { createDatabase, isSingle } from './scopes.ts';
import type { Database, SystemTx, UserTx } from './scopes.ts';
import { testDatabase } from '@troupe/testing/database/server';
import type { TestDatabase } from '@troupe/testing/database/server';

interface Notes {
  notes: { id: Generated<bigint>; user_id: string; body: string; amount: bigint | null };
  pairs: { id: number; other: number };
}

let database: TestDatabase;
let db: Database;
let owner: pg.Client;

before(async () => {
  database = await testDatabase({ poolSize: 4 });
  ({ db } = database);
  owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  await owner.query(`
    create table notes (id bigserial primary key, user_id text not null, body text not null unique, amount bigint);
    select own_by_user('notes');
    create table pairs (id int primary key, other int references pairs (id) deferrable initially deferred);
    select read_by_all('pairs');
    create table hidden (id int);
    select system_only('hidden')`);
});
after(async () => {
  await owner.end();
  await database.drop();
});
beforeEach(() => owner.query('truncate notes, pairs'));

const on = (tx: UserTx | SystemTx): Kysely<Notes> => tx as unknown as Kysely<Notes>;
const bodies = async (tx: UserTx | SystemTx): Promise<string[]> =>
  (await on(tx).selectFrom('notes').select('body').orderBy('body').execute()).map(({ body }) => body);
const write = (tx: UserTx | SystemTx, user_id: string, body: string) =>
  on(tx).insertInto('notes').values({ user_id, body }).execute();
const code = (expected: string) => (error: unknown) => error instanceof pg.DatabaseError && error.code === expected;
const whoAmI = async (tx: UserTx | SystemTx) =>
  (await sql<{ role: string; id: string | null }>`select current_user as role, app_user_id() as id`.execute(tx))
    .rows[0];

describe('isolation', () => {
  test('a user sees and writes only the own rows, the system all', async () => {
    await write(db.user('ann'), 'ann', 'a');
    await db.asUser('bob', (tx) => write(tx, 'bob', 'b'));
    assert.deepEqual(await bodies(db.user('ann')), ['a']);
    assert.deepEqual(await db.asUser('bob', bodies), ['b']);
    assert.deepEqual(await bodies(db.system), ['a', 'b']);
    assert.deepEqual(await db.asSystem(bodies), ['a', 'b']);
    await assert.rejects(write(db.user('ann'), 'bob', 'c'), code('42501'));
    await assert.rejects(
      db.asUser('ann', (tx) => write(tx, 'bob', 'c')),
      code('42501'),
    );
    const stolen = await on(db.user('ann')).updateTable('notes').set({ body: 'x' }).where('body', '=', 'b').execute();
    assert.equal(stolen[0]?.numUpdatedRows, 0n);
    const gone = await on(db.user('ann')).deleteFrom('notes').execute();
    assert.equal(gone[0]?.numDeletedRows, 1n);
    assert.deepEqual(await bodies(db.system), ['b']);
  });

  test('what is system_only is closed to users', async () => {
    await assert.rejects(sql`select * from hidden`.execute(db.user('ann')), code('42501'));
    assert.deepEqual((await sql`select * from hidden`.execute(db.system)).rows, []);
  });

  test('without a scope there is nobody', async () => {
    await write(db.user('ann'), 'ann', 'a');
    await owner.query('begin; set local role svc_user');
    assert.equal((await owner.query('select * from notes')).rowCount, 0);
    await owner.query('rollback');
  });

  test('an empty user id is refused', async () => {
    assert.throws(() => db.user(''), /needs a user id/);
    await assert.rejects(
      db.asUser('', async () => {}),
      /needs a user id/,
    );
  });

  test('many users at once on few connections never see each other', async () => {
    const users = Array.from({ length: 8 }, (_, index) => `user ${index}'"\\`);
    for (const user of users) await write(db.user(user), user, user);
    const step = fc.record({
      user: fc.constantFrom(...users),
      way: fc.constantFrom('user', 'asUser', 'asSystem', 'system', 'failing', 'aborted'),
    });
    const run = async ({ user, way }: { user: string; way: string }): Promise<void> => {
      if (way === 'user') assert.deepEqual(await bodies(db.user(user)), [user]);
      else if (way === 'asUser') assert.deepEqual(await db.asUser(user, bodies), [user]);
      else if (way === 'asSystem') assert.equal((await db.asSystem(bodies)).length, users.length);
      else if (way === 'system') assert.equal((await bodies(db.system)).length, users.length);
      else if (way === 'failing') await assert.rejects(sql`select 1 / 0`.execute(db.user(user)), code('22012'));
      else
        await assert.rejects(
          db.asUser(user, (tx) => sql`select 1 / 0`.execute(tx)),
          code('22012'),
        );
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        await Promise.all(steps.map(run));
      }),
      { numRuns: 40 },
    );
  });

  test('neither role nor user survives on the connection, after success or failure', async (t) => {
    const clients = new Set<pg.Client>();
    // oxlint-disable-next-line typescript/unbound-method -- bound again by call
    const connect = pg.Client.prototype.connect as (this: pg.Client) => Promise<pg.Client>;
    // The connection itself is seen, as nobody else sees it.
    t.mock.method(pg.Client.prototype, 'connect', async function (this: pg.Client) {
      await connect.call(this);
      clients.add(this);
      return this;
    });
    const one = createDatabase({ url: database.url, log: silentLog, poolSize: 1 });
    const ways = [
      () => whoAmI(one.user('ann')),
      () => sql`select nope`.execute(one.user('ann')).catch(() => {}),
      () => one.asUser('ann', whoAmI),
      () => one.asUser('ann', (tx) => sql`select nope`.execute(tx)).catch(() => {}),
      () => one.asUser('ann', () => Promise.reject(new Error('no'))).catch(() => {}),
    ];
    for (const way of ways) {
      await way();
      assert.equal(clients.size, 1, 'it is the same connection all the time');
      for (const client of clients) {
        const { rows } = await client.query(
          `select current_user = session_user as login, current_setting('app.user_id', true) as id`,
        );
        assert.deepEqual(rows, [{ login: true, id: '' }]);
      }
      assert.deepEqual(await whoAmI(one.system), { role: 'svc_system', id: null });
      assert.deepEqual(await whoAmI(one.user('bob')), { role: 'svc_user', id: 'bob' });
    }
    await one.close();
  });
});

test('a query of one scope does not compile in the other', () => {
  const ofUser = (tx: UserTx): UserTx => tx;
  const ofSystem = (tx: SystemTx): SystemTx => tx;
  // @ts-expect-error the system is no user
  ofUser(db.system);
  // @ts-expect-error a user is not the system
  ofSystem(db.user('ann'));
  // @ts-expect-error there is nothing to query with outside of a scope
  assert.equal(db.selectFrom, undefined);
});

describe('transactions', () => {
  test('a throw rolls back, a return commits and gives its value', async () => {
    await assert.rejects(
      db.asUser('ann', async (tx) => {
        await write(tx, 'ann', 'a');
        throw new Error('changed my mind');
      }),
      /changed my mind/,
    );
    assert.deepEqual(await bodies(db.system), []);
    assert.equal(await db.asUser('ann', async (tx) => (await write(tx, 'ann', 'a'), 7)), 7);
    assert.deepEqual(await bodies(db.system), ['a']);
  });

  test('a swallowed error is not a commit', async () => {
    await assert.rejects(
      db.asUser('ann', async (tx) => {
        await write(tx, 'ann', 'a');
        await sql`select nope`.execute(tx).catch(() => {});
      }),
      /was rolled back/,
    );
    assert.deepEqual(await bodies(db.system), []);
  });

  test('queries started together run in order in the one transaction', async () => {
    await db.asUser('ann', (tx) => Promise.all(['a', 'b', 'c'].map((body) => write(tx, 'ann', body))));
    const rows = await on(db.system).selectFrom('notes').select(['id', 'body']).orderBy('id').execute();
    assert.deepEqual(
      rows.map(({ body }) => body),
      ['a', 'b', 'c'],
    );
  });

  test('another scope inside is refused, a tx is dead after its end', async () => {
    await assert.rejects(
      db.asUser('ann', () => db.asSystem(async () => {})),
      /already open/,
    );
    await assert.rejects(
      db.asUser('ann', () => bodies(db.user('ann'))),
      /already open/,
    );
    const kept = await db.asUser('ann', async (tx) => ({ tx }));
    await assert.rejects(bodies(kept.tx), /has ended/);
    assert.deepEqual(await bodies(db.user('ann')), []);
  });

  test('it is known of which tx each query is a transaction of its own, and where it could not be one', async () => {
    assert.deepEqual([isSingle(db.system), isSingle(db.user('ann'))], [true, true]);
    await db.asSystem(async (tx) => {
      assert.equal(isSingle(tx), false);
      assert.throws(() => isSingle(db.system), /already open/);
    });
    assert.equal(isSingle(db.system), true);
  });

  test('Kysely cannot open a transaction past the scope', async () => {
    await assert.rejects(
      db
        .user('ann')
        .transaction()
        .execute(async () => {}),
      /Use asUser or asSystem/,
    );
  });

  test('a transaction opened by raw SQL does not go back to the pool', async () => {
    const one = createDatabase({ url: database.url, log: silentLog, poolSize: 1 });
    await sql`begin`.execute(one.user('ann'));
    assert.deepEqual(await whoAmI(one.system), { role: 'svc_system', id: null });
    await one.close();
  });

  test('a deferred constraint fails the single query that broke it', async () => {
    await assert.rejects(sql`insert into pairs values (1, 2)`.execute(db.system), code('23503'));
    await assert.rejects(
      db.asSystem((tx) => sql`insert into pairs values (1, 2)`.execute(tx)),
      code('23503'),
    );
    assert.equal((await sql`select * from pairs`.execute(db.system)).rows.length, 0);
  });

  test('serializable work is tried again when it collides', async () => {
    await write(db.system, 'ann', 'counter');
    const add = () =>
      db.asUser(
        'ann',
        async (tx) => {
          const { amount } = await on(tx).selectFrom('notes').select('amount').executeTakeFirstOrThrow();
          await on(tx)
            .updateTable('notes')
            .set({ amount: (amount ?? 0n) + 1n })
            .execute();
        },
        { isolation: 'serializable' },
      );
    await Promise.all([add(), add(), add()]);
    const { amount } = await on(db.system).selectFrom('notes').select('amount').executeTakeFirstOrThrow();
    assert.equal(amount, 3n);
  });
});

test('what is kept for a user goes with them', async () => {
  const now = new Date();
  const id = 'leaver';
  const kept = () => db.system.selectFrom('agent_configs').select('user_id').where('user_id', '=', id).execute();
  await db.system
    .insertInto('users')
    .values({ id, email: `${id}@example.org`, name: id, referral_code: id, created_at: now, updated_at: now })
    .execute();
  await db.system.insertInto('agent_configs').values({ user_id: id, config: '{}', updated_at: now }).execute();
  assert.equal((await kept()).length, 1);
  await db.system.deleteFrom('users').where('id', '=', id).execute();
  assert.deepEqual(await kept(), []);
});
