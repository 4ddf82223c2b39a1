import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { z } from 'zod';
import { job } from '@troupe/contract';
import { silentLog, StartError } from '@troupe/kernel';
import { findUnguarded } from './catalogue.ts';
import { dumpDatabase, loadDatabase } from './dump.ts';
import { createJobs } from './jobs.ts';
import { testDatabase, testUser, type TestDatabase } from '@troupe/testing/database/server';

const USER = '11111111-1111-4111-8111-111111111111';
/** Ends lines for some readers, quotes for others. */
const AWKWARD = 'a\u2028b\u2029c\r\n"d" \\e {f,g} NULL \t é 🎭';

let from: TestDatabase;
let to: TestDatabase;
let folder: string;
const later = job({ queue: 'later', data: z.object({ what: z.string() }) });

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-dump-'));
  [from, to] = [await testDatabase(), await testDatabase()];
  await testUser(from.db, USER);
  await sql`update users set name = ${AWKWARD}, password_hash = null where id = ${USER}`.execute(from.db.system);
  await sql`insert into audit_log (user_id, action, detail, created_at) values
    (${USER}, 'first', 'null'::jsonb, '2026-03-29 01:59:59.123456+00'), (${USER}, 'second', '{"a": 1.10}'::jsonb, now())`.execute(
    from.db.system,
  );
  const jobs = createJobs({ url: from.url, log: silentLog });
  jobs.define(later);
  await jobs.start();
  await from.db.asSystem((tx) => jobs.send(tx, later, { what: AWKWARD }, { startAfter: 3600 }));
  await jobs.stop();
});
after(async () => {
  await from.drop();
  await to.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Every value of every kept table as text, in one order. */
async function contents({ db }: TestDatabase, table: string): Promise<string> {
  const { rows } = await sql<{ all: string }>`select coalesce(string_agg(t::text, '|' order by t::text), '') as all
    from ${sql.table(table)} t`.execute(db.system);
  return rows[0]?.all ?? '';
}

describe('all rows as files, and back', () => {
  test('what is loaded is what was dumped, to the last character', async () => {
    const dumped = await dumpDatabase(from.url, folder);
    assert.ok(dumped >= 4, `${dumped} rows`);
    assert.equal(await loadDatabase({ url: to.url, folder, log: silentLog }), dumped);
    for (const table of ['users', 'audit_log']) assert.equal(await contents(to, table), await contents(from, table));
    assert.ok((await contents(to, 'users')).includes('\u2028'));
    const { rows } = await sql<{ kind: string }>`select jsonb_typeof(detail) as kind from audit_log
      where action = 'first'`.execute(to.db.system);
    assert.equal(rows[0]?.kind, 'null', 'a null in JSON is not a missing value');
  });

  test('waiting jobs wait on', async () => {
    const client = createJobs({ url: to.url, log: silentLog });
    let seen: unknown;
    client.work(later, async (data) => void (seen = data));
    await client.start();
    await client.stop();
    assert.equal(seen, undefined, 'its time has not come');
    const jobs = await asLogin(to, `select data->>'what' as what, state::text from pgboss.job where name = 'later'`);
    assert.deepEqual(jobs, [{ what: AWKWARD, state: 'created' }]);
  });

  test('numbers go on where they were', async () => {
    const next = (db: TestDatabase) =>
      sql<{
        id: string;
      }>`insert into audit_log (user_id, action, created_at) values (${USER}, 'next', now()) returning id`
        .execute(db.db.system)
        .then(({ rows }) => Number(rows[0]?.id));
    assert.equal(await next(to), await next(from));
  });

  test('rules hold again: guarded rows, links, the append-only log', async () => {
    assert.deepEqual(await findUnguarded(to.url), []);
    await assert.rejects(
      sql`insert into sessions (id, user_id, token_hash, device, ip, created_at, last_seen_at, expires_at)
        values ('s', 'nobody', 'x', 'd', 'i', now(), now(), now())`.execute(to.db.system),
      /foreign key/,
    );
    await assert.rejects(asLogin(to, 'delete from audit_log'), /append-only/);
  });
});

describe('a dump that cannot be loaded changes nothing', () => {
  test('a database with people in it', async () => {
    await assert.rejects(loadDatabase({ url: from.url, folder, log: silentLog }), sentence(/is in use already/));
  });

  test('a file that was cut, a version that is unknown', async (t) => {
    const empty = await testDatabase();
    t.after(empty.drop);
    const load = () => loadDatabase({ url: empty.url, folder, log: silentLog });
    const users = join(folder, 'public.users.jsonl');
    const whole = await readFile(users, 'utf8');
    await writeFile(users, '');
    await assert.rejects(load(), sentence(/damaged: public\.users has 0 rows instead of 1/));
    assert.equal(await contents(empty, 'audit_log'), '');
    await writeFile(users, whole);
    const manifest = join(folder, 'manifest.json');
    const about = await readFile(manifest, 'utf8');
    await writeFile(manifest, about.replace('"0001_', '"9999_'));
    await assert.rejects(load(), sentence(/migration 9999_.* does not know/));
    await writeFile(manifest, about);
    assert.ok((await load()) > 0);
  });
});

const sentence = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error));
  assert.match(error.message, pattern);
  return true;
};

async function asLogin({ url }: TestDatabase, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
