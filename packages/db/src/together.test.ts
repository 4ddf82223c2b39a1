import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { silentLog } from '@troupe/kernel';
import { testDatabase } from '@troupe/testing/database/server';
import type { TestDatabase } from '@troupe/testing/database/server';
import { compiled } from './compiled.ts';
import { createDatabase } from './scopes.ts';
import type { Database, UserTx } from './scopes.ts';

let database: TestDatabase;
let db: Database;

before(async () => {
  database = await testDatabase();
  db = createDatabase({ url: database.url, log: silentLog, poolSize: 3 });
});
after(async () => {
  await db.close();
  await database.drop();
});

const whoAndWhen = compiled((tx: UserTx) =>
  tx.selectNoFrom([
    sql<string>`current_user`.as('role'),
    sql<string>`current_setting('app.user_id')`.as('user'),
    sql<string>`pg_backend_pid() || ' ' || now()::text`.as('transaction'),
  ]),
);
const nothing = compiled((tx: UserTx) =>
  tx.selectNoFrom(sql<number>`1 / 0`.as('n')).where(sql<boolean>`now() > '2000-01-01'`),
);

test('lists that a user asks for at once are one transaction, those of others are not', async () => {
  const asked = ['ann', 'bob', 'ann', 'ann', 'bob'];
  const found = (await Promise.all(asked.map((user) => whoAndWhen(db.user(user))))).flat();
  assert.deepEqual(
    found.map(({ user }) => user),
    asked,
  );
  assert.deepEqual([...new Set(found.map(({ role }) => role))], ['svc_user']);
  const [ofAnn, ofBob] = ['ann', 'bob'].map(
    (who) => new Set(found.filter(({ user }) => user === who).map(({ transaction }) => transaction)),
  );
  assert.deepEqual([ofAnn?.size, ofBob?.size], [1, 1]);
  assert.notDeepEqual(ofAnn, ofBob);
});

test('nothing of a scope is left for whoever comes next on the connection', async () => {
  await Promise.all(Array.from({ length: 20 }, () => whoAndWhen(db.user('ann'))));
  const { rows } = await sql<{ user: string }>`select current_setting('app.user_id') as user`.execute(db.system);
  assert.deepEqual(rows, [{ user: '' }]);
});

test('one that fails fails alone', async () => {
  const [first, failed, last] = await Promise.allSettled([
    whoAndWhen(db.user('ann')),
    nothing(db.user('ann')),
    whoAndWhen(db.user('ann')),
  ]);
  assert.equal(failed.status === 'rejected' && (failed.reason as { code?: string }).code, '22012');
  for (const one of [first, last]) assert.equal(one.status === 'fulfilled' && one.value[0]?.user, 'ann');
});

test('more than a few are several round trips, and all are answered', async () => {
  const found = (await Promise.all(Array.from({ length: 30 }, () => whoAndWhen(db.user('ann'))))).flat();
  assert.equal(found.length, 30);
  const transactions = new Set(found.map(({ transaction }) => transaction));
  assert.ok(transactions.size > 1 && transactions.size < 30, `${transactions.size} transactions`);
});

test('a list in a transaction is part of it, and another scope is refused there', async () => {
  await db.asUser('ann', async (tx) => {
    const [first] = await whoAndWhen(tx);
    const [second] = await whoAndWhen(tx);
    assert.equal(first?.transaction, second?.transaction);
    await assert.rejects(whoAndWhen(db.user('bob')), /already open/);
  });
});

test('when the database is away all of them are told', async () => {
  const nowhere = createDatabase({ url: 'postgresql://x@127.0.0.1:1/x', log: silentLog });
  const asked = await Promise.allSettled([1, 2].map(() => whoAndWhen(nowhere.user('ann'))));
  for (const one of asked) assert.equal(one.status === 'rejected' && (one.reason as { status?: number }).status, 503);
  await nowhere.close();
});

test('what writes cannot be compiled', async () => {
  const write = compiled((tx: UserTx) => tx.deleteFrom('api_keys').returning('id'));
  await assert.rejects(write(db.user('ann')), /Only what reads/);
});
