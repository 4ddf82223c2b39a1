import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { StartError } from '@troupe/kernel';
import { startPooler } from '@troupe/testing/database/pgbouncer';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { needs } from '@troupe/testing/machine/needs';
import { findWay } from './pooler.ts';

describe('statements by name', { skip: needs('pgbouncer') }, () => {
  let database: TestDatabase;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.drop());
  const settings = () => ({ DATABASE_DIRECT_URL: database.url, DATABASE_PREPARED: 'on' }) as const;

  test('are for a server', async () => {
    const { url } = database;
    assert.deepEqual(await findWay(url, settings()), { direct: url, pooled: false, prepared: true });
  });

  test('are for a pooler that gives each client a connection of its own', async (t) => {
    const pooler = await startPooler(database.url, { serverConnections: 10, mode: 'session' });
    t.after(() => pooler.close());
    const way = await findWay(pooler.to(database.url), settings());
    assert.deepEqual(way, { direct: database.url, pooled: true, prepared: true });
  });

  for (const serverConnections of [1, 2, 10])
    test(`are not for one that mixes them up, with ${serverConnections} connections to the server`, async (t) => {
      const pooler = await startPooler(database.url, { serverConnections });
      t.after(() => pooler.close());
      await assert.rejects(
        findWay(pooler.to(database.url), settings()),
        (error) => error instanceof StartError && error.message.includes('does not keep prepared statements'),
      );
      const left = await findWay(pooler.to(database.url), { ...settings(), DATABASE_PREPARED: undefined });
      assert.equal(left.prepared, false);
    });
});
