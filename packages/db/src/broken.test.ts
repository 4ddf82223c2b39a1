import assert from 'node:assert/strict';
import net, { type AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { answerable, AppError, BROKEN_AT, BROKEN_BEFORE, silentLog } from '@troupe/kernel';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { createDatabase, type Database, type UserTx, type SystemTx } from './scopes.ts';

/** A connection that breaks under a statement: who asked is told so, and whether anything of it can be stored. */

let database: TestDatabase;
let owner: pg.Client;
let line: Awaited<ReturnType<typeof openLine>>;
let db: Database;

before(async () => {
  database = await testDatabase();
  owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  await owner.query(`create table notes (body text); select read_by_all('notes'); grant insert on notes to svc_system`);
  line = await openLine(database.url);
  db = createDatabase({ url: line.url, log: silentLog, poolSize: 2 });
});
after(async () => {
  await db.close();
  line.close();
  await owner.end();
  await database.drop();
});
beforeEach(() => owner.query('truncate notes'));

/** Between here and the server: it cuts every connection when the server is sent what `cuts` looks for, before or after that. */
async function openLine(url: string) {
  const target = new URL(url);
  const cuts: { at?: string; isPassedOn: boolean } = { isPassedOn: false };
  const open = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const folder = target.searchParams.get('host');
    const to = folder?.startsWith('/')
      ? net.connect(`${folder}/.s.PGSQL.${target.port || 5432}`)
      : net.connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, to]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => open.delete(socket));
    }
    client.on('close', () => to.destroy());
    to.on('close', () => client.destroy());
    to.pipe(client);
    client.on('data', (piece) => {
      const isMeant = cuts.at !== undefined && piece.includes(cuts.at);
      if (!isMeant) return void to.write(piece);
      delete cuts.at;
      if (!cuts.isPassedOn) return void client.destroy();
      // What the server answers is not heard here any more.
      to.unpipe(client);
      to.once('data', () => client.destroy()).resume();
      to.write(piece);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const here = new URL(url);
  here.searchParams.delete('host');
  here.hostname = '127.0.0.1';
  here.port = String((server.address() as AddressInfo).port);
  return {
    url: here.href,
    cut: (at: string, isPassedOn = false) => Object.assign(cuts, { at, isPassedOn }),
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

const write = (tx: UserTx | SystemTx, body: string) => sql`insert into notes values (${body})`.execute(tx);
const kept = async (): Promise<string[]> =>
  (await owner.query<{ body: string }>('select body from notes order by body')).rows.map(({ body }) => body);
const told = (code: string) => (error: unknown) => {
  const known = answerable(error);
  assert.equal((error as { code?: string }).code, code, String(error));
  assert.deepEqual([known?.status, known?.headers['retry-after']], [503, '2']);
  return true;
};

test('under a transaction that was not to be kept yet: nothing is', async () => {
  line.cut('second');
  const work = db.asSystem(async (tx) => {
    await write(tx, 'first');
    await write(tx, 'second');
  });
  await assert.rejects(work, told(BROKEN_BEFORE));
  assert.deepEqual(await kept(), []);
});

test('of several that were asked at once each says the same', async () => {
  line.cut('second');
  const work = db.asSystem((tx) => Promise.all(['first', 'second', 'third'].map((body) => write(tx, body))));
  await assert.rejects(work, told(BROKEN_BEFORE));
  assert.deepEqual(await kept(), []);
});

test('while it is kept: nobody knows, and it may be there', async () => {
  line.cut('commit', true);
  await assert.rejects(
    db.asSystem((tx) => write(tx, 'one')),
    told(BROKEN_AT),
  );
  assert.deepEqual(await kept(), ['one']);
});

test('under a query of its own: nobody knows either', async () => {
  line.cut('two', true);
  await assert.rejects(write(db.system, 'two'), told(BROKEN_AT));
  assert.deepEqual(await kept(), ['two']);
  line.cut('three');
  await assert.rejects(write(db.system, 'three'), told(BROKEN_AT));
  assert.deepEqual(await kept(), ['two']);
});

test('what the work says of its own stays as it is, and the next finds another connection', async () => {
  line.cut('lost');
  const work = db.asSystem(async (tx) => {
    await assert.rejects(write(tx, 'lost'));
    throw new AppError(404, 'Not there');
  });
  await assert.rejects(work, (error: unknown) => error instanceof AppError && error.status === 404);
  await write(db.system, 'next');
  assert.deepEqual(await kept(), ['next']);
});
