import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { randomHex, sha256Hex, silentLog, type Env } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { sql } from 'kysely';
import { createAccounts } from './accounts.ts';
import { deviceOf } from './device.ts';
import { ensureOwner } from './owner.ts';

let database: TestDatabase;
let now = new Date('2026-03-15T12:00:00Z');

before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

const accountsWith = (env: Env = {}) =>
  createAccounts({
    db: database.db,
    settings: testSettings(env),
    secrets: { walletKey: 'k' },
    clock: () => now,
    log: silentLog,
    url: 'http://127.0.0.1:3000',
  });

const accounts = () => accountsWith();
const origin = { ip: '10.0.0.1', userAgent: undefined };

async function person(email = `${randomHex(6)}@example.com`) {
  const row = await database.db.asSystem((tx) => accounts().users.create(tx, { email }));
  assert.ok(row);
  return row;
}

const signIn = (userId: string, env: Env = {}) =>
  database.db.asSystem(async (tx) => (await accountsWith(env).sessions.signIn(tx, userId, 'password', origin)).cookie);

test('a session is found by its token for 30 days, and only its hash is stored', async () => {
  const user = await person();
  const cookie = await signIn(user.id);
  assert.match(String(cookie.value), /^[0-9a-f]{64}$/);
  const found = await accounts().bySession(String(cookie.value));
  assert.equal(found?.id, user.id);
  assert.ok(found?.sessionId);
  const stored = await database.db.system
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', user.id)
    .executeTakeFirstOrThrow();
  assert.equal(stored.token_hash, sha256Hex(String(cookie.value)));
  const start = now;
  now = new Date(start.getTime() + 30 * 86_400_000 - 1);
  assert.ok(await accounts().bySession(String(cookie.value)));
  now = new Date(start.getTime() + 30 * 86_400_000);
  assert.equal(await accounts().bySession(String(cookie.value)), null);
  now = start;
});

test('the cookie is as the contract says, and Secure when the public address is', async () => {
  const user = await person();
  const { value: _, ...open } = await signIn(user.id);
  assert.deepEqual(open, {
    name: 'svc-session',
    maxAge: 30 * 86_400,
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: false,
  });
  assert.equal((await signIn(user.id, { BASE_URL: 'https://troupe.example' })).secure, true);
});

test('the cookie and the key of a deleted user are worth nothing', async () => {
  const user = await person();
  const token = String((await signIn(user.id)).value);
  const key = `sk_${randomHex(32)}`;
  await database.db.system
    .insertInto('api_keys')
    .values({ id: randomHex(8), user_id: user.id, name: 'k', preview: 'x', key_hash: sha256Hex(key), created_at: now })
    .execute();
  assert.equal((await accounts().byKey(key))?.id, user.id);
  await database.db.system.deleteFrom('users').where('id', '=', user.id).execute();
  assert.equal(await accounts().bySession(token), null);
  assert.equal(await accounts().byKey(key), null);
});

test('what is no token asks no database', async () => {
  for (const given of ['', 'x', 'A'.repeat(64), `${'a'.repeat(63)}\0`, 'ä'.repeat(64)]) {
    assert.equal(await accounts().bySession(given), null);
    assert.equal(await accounts().byKey(`sk_${given}`), null);
  }
});

test('last seen moves once a minute, behind the request', async () => {
  const user = await person();
  const token = String((await signIn(user.id)).value);
  const seen = async () =>
    (
      await database.db.system
        .selectFrom('sessions')
        .select('last_seen_at')
        .where('user_id', '=', user.id)
        .executeTakeFirstOrThrow()
    ).last_seen_at.getTime();
  const start = now;
  const look = async (ms: number) => {
    now = new Date(start.getTime() + ms);
    const people = accounts();
    await people.bySession(token);
    await people.close();
    return (await seen()) - start.getTime();
  };
  assert.equal(await look(59_000), 0);
  assert.equal(await look(60_000), 60_000);
  assert.equal(await look(90_000), 60_000);
  now = start;
});

test('ADMIN_EMAILS makes administrators of proved addresses only', async () => {
  const row = await person('Chief@Example.com');
  const env = { ADMIN_EMAILS: 'CHIEF@example.com' };
  assert.equal(accountsWith(env).toUser(row, null).isAdmin, true);
  const strict = accountsWith({ ...env, EMAIL_VERIFICATION: 'on' });
  assert.equal(strict.toUser(row, null).isAdmin, false);
  assert.equal(strict.toUser({ ...row, email_verified_at: now }, null).isAdmin, true);
  assert.equal(accounts().toUser({ ...row, is_admin: true }, null).isAdmin, true);
});

test('verification may be off only where nobody else can reach the service', () => {
  assert.equal(accounts().verification.required, false);
  assert.equal(accountsWith({ BASE_URL: 'https://troupe.example' }).verification.required, true);
  assert.equal(accountsWith({ SMTP_URL: 'smtp://127.0.0.1' }).verification.required, true);
  for (const env of [{ HOST: '0.0.0.0' }, { SMTP_URL: 'smtp://127.0.0.1' }, { NODE_ENV: 'production' }] as Env[])
    assert.throws(() => accountsWith({ EMAIL_VERIFICATION: 'off', ...env }), { name: 'StartError' });
});

test('provider tokens are sealed, and belong to their link', async () => {
  const { links } = accounts();
  const user = await person();
  await database.db.asSystem(async (tx) => {
    const link = await links.save(tx, {
      userId: user.id,
      provider: 'idp2',
      subject: 's1',
      tokens: { access_token: 'a' },
    });
    assert.deepEqual(await links.tokens(tx, link.id), { access_token: 'a' });
    const row = await tx.selectFrom('account_links').selectAll().where('id', '=', link.id).executeTakeFirstOrThrow();
    assert.doesNotMatch(row.tokens?.toString('latin1') ?? '', /access_token/);
    const other = await links.save(tx, { userId: user.id, provider: 'idp2', subject: 's2' });
    await tx.updateTable('account_links').set({ tokens: row.tokens }).where('id', '=', other.id).execute();
    await assert.rejects(links.tokens(tx, other.id));
    await links.dropTokens(tx, user.id, 'idp2');
    assert.equal(await links.tokens(tx, link.id), null);
    assert.equal((await links.find(tx, 'idp2', 's1'))?.userId, user.id);
  });
});

test('referral credits: ten each, once, and at most 100 a month for the giver', async () => {
  const { credits } = accounts();
  const giver = await person();
  const balance = async (id: string) =>
    (
      await database.db.system
        .selectFrom('users')
        .select('credit_micros')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
    ).credit_micros;
  const bring = async () => {
    const newcomer = await person();
    await database.db.asSystem((tx) => credits.refer(tx, newcomer.id, giver.id));
    await Promise.all([1, 2].map(() => database.db.asSystem((tx) => credits.settle(tx, newcomer.id))));
    return newcomer.id;
  };
  const brought = await Promise.all(Array.from({ length: 12 }, bring));
  assert.equal(await balance(giver.id), 10_000_000n);
  for (const id of brought) assert.equal(await balance(id), 1_000_000n);
  const start = now;
  now = new Date('2026-04-01T00:00:00Z');
  await bring();
  assert.equal(await balance(giver.id), 11_000_000n);
  now = start;
  const spend = (micros: bigint) => database.db.asSystem((tx) => credits.spend(tx, brought[0] ?? '', micros));
  const parts = await Promise.all([spend(700_000n), spend(700_000n)]);
  assert.deepEqual(new Set(parts), new Set([300_000n, 700_000n]));
  assert.equal(await spend(1n), 0n);
});

test('the audit log can only grow', async () => {
  const user = await person();
  await database.db.asUser(user.id, (tx) => accounts().audit(tx, { userId: user.id, action: 'test' }));
  await assert.rejects(database.db.asUser(user.id, (tx) => accounts().audit(tx, { userId: 'other', action: 'test' })));
  for (const change of [
    () => database.db.system.updateTable('audit_log').set({ action: 'x' }).execute(),
    () => database.db.system.deleteFrom('audit_log').execute(),
    () => database.db.user(user.id).deleteFrom('audit_log').execute(),
  ])
    await assert.rejects(change);
  for (const change of [sql`truncate audit_log`, sql`delete from audit_log`, sql`update audit_log set action = ''`]) {
    const asOwner = database.db.asSystem(async (tx) => {
      await sql`set local role none`.execute(tx);
      await change.execute(tx);
    });
    await assert.rejects(asOwner, /append-only/);
  }
});

test('a user cannot make an administrator of oneself, nor read a password hash', async () => {
  const user = await person();
  const own = database.db.user(user.id);
  assert.equal((await own.selectFrom('users').select('id').execute()).length, 1);
  await assert.rejects(own.updateTable('users').set({ is_admin: true }).execute(), /permission denied/);
  await assert.rejects(own.updateTable('users').set({ plan: 'network' }).execute(), /permission denied/);
  await assert.rejects(own.selectFrom('users').select('password_hash').execute(), /permission denied/);
});

test('a session list names devices that people recognise', () => {
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
  const edge =
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/130.0';
  assert.equal(deviceOf(firefox), 'Firefox on Linux');
  assert.equal(deviceOf(edge), 'Edge on Windows');
  assert.equal(deviceOf('curl/8.5.0'), 'curl/8.5.0');
  assert.equal(deviceOf(undefined), 'Unknown device');
  assert.equal(deviceOf('a\0b'), 'ab');
});

test('the first start makes an owner, once', async () => {
  const fresh = await testDatabase();
  const people = createAccounts({
    db: fresh.db,
    settings: testSettings(),
    secrets: { walletKey: 'k' },
    clock: () => now,
    log: silentLog,
    url: 'http://127.0.0.1:3000',
  });
  const settings = testSettings();
  const made = await Promise.all([1, 2].map(() => ensureOwner({ db: fresh.db, accounts: people, settings })));
  const owners = made.filter((owner) => owner !== null);
  assert.equal(owners.length, 1);
  assert.equal(owners[0]?.email, 'owner@troupe.local');
  const row = await people.users.byEmail(fresh.db.system, 'owner@troupe.local');
  assert.equal(await people.passwords.verify(row?.password_hash ?? null, owners[0]?.password ?? '', 'owner'), true);
  assert.deepEqual([row?.is_admin, row?.plan, row?.subscription_status], [true, 'network', 'active']);
  assert.equal(await ensureOwner({ db: fresh.db, accounts: people, settings }), null);
  const { password_given: given } = await fresh.db.system
    .selectFrom('users')
    .select('password_given')
    .executeTakeFirstOrThrow();
  assert.equal(given, true);
  await fresh.drop();
});
