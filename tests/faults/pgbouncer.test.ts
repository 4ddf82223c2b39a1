import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { createDatabase, type Database } from '@troupe/db';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';
import { silentLog } from '@troupe/kernel';
import { startScene, type Scene } from '@troupe/testing/attacks/scene';
import { needs } from '@troupe/testing/machine/needs';
import { startPooler, type Pooler } from '@troupe/testing/database/pgbouncer';
import { ownSettings, startProgram } from '@troupe/testing/processes/program';

/** A pooler in transaction mode gives each transaction any connection: nothing of one client may meet another there. */
describe('PgBouncer in transaction mode', { skip: needs('pgbouncer') }, () => {
  let database: TestDatabase;
  let pooler: Pooler;
  before(async () => {
    database = await testDatabase();
    pooler = await startPooler(database.url);
  });
  after(async () => {
    await pooler.close();
    await database.drop();
  });

  const open = (given: { statementTimeoutMs?: number } = {}): Database =>
    createDatabase({ url: pooler.to(database.url), log: silentLog, pooled: true, prepared: false, ...given });

  test('runs each client’s own statements, as its own user', async () => {
    const clients = [open(), open(), open()];
    for (const name of ['ada', 'ben', 'eve']) await testUser(database.db, name);
    const asked = Array.from({ length: 600 }, async (_, number) => {
      const db = clients[number % clients.length]!;
      const name = ['ada', 'ben', 'eve'][(number % 7) % 3]!;
      if (number % 5 === 0) {
        const sum = await db.asSystem(async (tx) => {
          await sql`select pg_sleep(0.002)`.execute(tx);
          return sql<{ sum: number }>`select ${number}::int + 1 as sum`.execute(tx);
        });
        return assert.deepEqual(sum.rows, [{ sum: number + 1 }]);
      }
      // As many texts as there are numbers of one kind: every client prepares its own.
      const column = `c${number % 40}`;
      const { rows } = await sql<Record<string, string>>`select id as ${sql.ref(column)} from users`.execute(
        db.user(name),
      );
      assert.deepEqual(rows, [{ [column]: name }]);
    });
    await Promise.all(asked);
    await Promise.all(clients.map((db) => db.close()));
  });

  test('ends a statement that takes too long', async () => {
    const db = open({ statementTimeoutMs: 100 });
    await assert.rejects(sql`select pg_sleep(20)`.execute(db.system), /statement timeout/);
    await db.close();
  });

  test('is not taken for a server: the start says what it needs', async () => {
    const own = await ownSettings();
    const program = startProgram({ ...own.env, DATABASE_URL: pooler.to(database.url) });
    const { code } = await program.exit;
    await own.remove();
    assert.equal(code, 1);
    assert.match(program.output(), /DATABASE_URL leads to a connection pooler: set DATABASE_DIRECT_URL/);
  });

  test('that mixes statements up is not given any by name: the start says so', async () => {
    const own = await ownSettings();
    const url = { DATABASE_URL: pooler.to(database.url), DATABASE_DIRECT_URL: database.url };
    const program = startProgram({ ...own.env, ...url, DATABASE_PREPARED: 'on' });
    const { code } = await program.exit;
    await own.remove();
    assert.equal(code, 1);
    assert.match(
      program.output(),
      /does not keep prepared statements of its clients apart, and DATABASE_PREPARED is on/,
    );
    // Nothing of the question stays there.
    const left = sql<{ name: string }>`select name from pg_prepared_statements where name like 'troupe%'`;
    const db = open();
    for (let n = 0; n < 10; n += 1) assert.deepEqual((await left.execute(db.system)).rows, []);
    await db.close();
  });
});

test('the platform works behind PgBouncer', { skip: needs('pgbouncer') }, async (t) => {
  let pooler: Pooler | undefined;
  const scene: Scene = await startScene(async ({ url }) => {
    pooler = await startPooler(url);
    return { DATABASE_URL: pooler.to(url), DATABASE_DIRECT_URL: url };
  });
  t.after(async () => {
    await scene.stop();
    await pooler?.close();
  });
  const people = await Promise.all(Array.from({ length: 4 }, () => scene.person()));
  const talk = async (one: (typeof people)[number]): Promise<void> => {
    for (let number = 0; number < 10; number += 1) {
      const { status, body } = await one.chat({ say: `${one.id} ${number}` });
      assert.deepEqual([status, body.reply], [200, `${one.id} ${number}`], JSON.stringify(body));
    }
  };
  await Promise.all(people.map(talk));
  for (const one of people) {
    const { status, body } = await one.ask('GET', '/api/agents');
    assert.deepEqual([status, body.agents.map(({ id }: { id: string }) => id)], [200, [one.agentId]]);
  }
});
