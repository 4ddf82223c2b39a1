import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { mailJob } from '@troupe/contract';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { randomHex } from '@troupe/kernel';
import { sql } from 'kysely';
import { SMTPServer } from 'smtp-server';
import { startService, type ServiceProcess } from '@troupe/testing/processes/service';
import { startIssuer } from '@troupe/testing/identity/signed-tokens';
import { tokenIn } from '@troupe/testing/services/web';

/** Web is killed with what it has promised still to be done; the next process does it, once. */

type Issuer = Awaited<ReturnType<typeof startIssuer>>;

const CLIENT = 'client-id';
const REVOKED = 'https://schemas.openid.net/secevent/risc/event-type/sessions-revoked';

let issuer: Issuer;
let key: Awaited<ReturnType<Issuer['newKey']>>;
let database: TestDatabase;
let running: ServiceProcess[] = [];

before(async () => {
  issuer = await startIssuer();
  key = await issuer.newKey();
});
beforeEach(async () => {
  database = await testDatabase();
});
after(() => issuer.close());

async function startWeb(env: Record<string, string> = {}): Promise<ServiceProcess> {
  const web = await startService('web', {
    DATABASE_URL: database.url,
    IDP2_ISSUER: issuer.address,
    IDP2_CLIENT_ID: CLIENT,
    ...env,
  });
  running.push(web);
  return web;
}

async function end(): Promise<void> {
  await Promise.all(running.map((web) => web.kill('SIGKILL')));
  running = [];
  await database.drop();
}

const post = (web: ServiceProcess, path: string, body: string | object) =>
  fetch(web.address + path, {
    method: 'POST',
    headers: { 'content-type': typeof body === 'string' ? 'application/secevent+jwt' : 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** Somebody who is signed in; `login` signs in once more. */
async function person(web: ServiceProcess) {
  const account = { email: `${randomHex(6)}@example.com`, password: 'correct horse' };
  const { id } = (await (await post(web, '/api/register', account)).json()) as { id: string };
  const login = async (at: ServiceProcess) => assert.equal((await post(at, '/api/auth/login', account)).status, 200);
  await login(web);
  return { id, email: account.email, login };
}

const revoke = (email: string, jti = randomHex(8)): Promise<string> =>
  issuer.sign(key, {
    iss: `${issuer.address}/`,
    aud: CLIENT,
    jti,
    events: { [REVOKED]: { subject: { email } } },
  } as never);

const sessionsOf = async (userId: string): Promise<number> =>
  (await database.db.system.selectFrom('sessions').select('id').where('user_id', '=', userId).execute()).length;

/** How often the event was acted on. */
const actionsOn = async (userId: string): Promise<number> =>
  (
    await database.db.system
      .selectFrom('audit_log')
      .select('id')
      .where('user_id', '=', userId)
      .where('action', '=', 'security-event')
      .execute()
  ).length;

const waiting = async (): Promise<number> =>
  (await database.db.system.selectFrom('risc_events').select('jti').where('processed_at', 'is', null).execute()).length;

async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  const late = Date.now() + 30_000;
  while (!(await check())) {
    if (Date.now() > late) throw new Error(`not in time: ${what}`);
    await delay(20);
  }
}

describe('killed after it answered 202', () => {
  test('while the action runs: nothing of it is left, and the next process acts once', async () => {
    try {
      const web = await startWeb();
      const { id, email, login } = await person(web);
      const released = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      // Who holds the session keeps the action from ending it.
      const holder = database.db.asSystem(async (tx) => {
        await tx.selectFrom('sessions').select('id').where('user_id', '=', id).forUpdate().execute();
        held.resolve();
        await released.promise;
      });
      await held.promise;
      const token = await revoke(email);
      assert.equal((await post(web, '/api/security/risc', token)).status, 202);
      await until('the action is under way', async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted`.execute(database.db.system);
        return rows.length > 0;
      });
      await web.kill('SIGKILL');
      released.resolve();
      await holder;
      assert.deepEqual([await sessionsOf(id), await actionsOn(id), await waiting()], [1, 0, 1]);

      const next = await startWeb();
      await until('the action', async () => (await waiting()) === 0);
      assert.deepEqual([await sessionsOf(id), await actionsOn(id)], [0, 1]);
      // Delivered again, to the process that never saw it: a new session stays.
      await login(next);
      assert.equal((await post(next, '/api/security/risc', token)).status, 202);
      const other = await person(next);
      assert.equal((await post(next, '/api/security/risc', await revoke(other.email))).status, 202);
      await until('a later event', async () => (await actionsOn(other.id)) === 1);
      assert.deepEqual([await sessionsOf(id), await actionsOn(id)], [1, 1]);
    } finally {
      await end();
    }
  });

  test('among many deliveries: every event that was acknowledged is acted on exactly once', async () => {
    try {
      const web = await startWeb();
      const people: Awaited<ReturnType<typeof person>>[] = [];
      for (let made = 0; made < 12; made += 1) people.push(await person(web));
      const tokens = await Promise.all(people.map(({ email }) => revoke(email)));
      const acknowledged: string[] = [];
      const deliveries = tokens.map(async (token, index) => {
        const { status } = await post(web, '/api/security/risc', token);
        if (status === 202) acknowledged.push(people[index]!.id);
        if (acknowledged.length === 5) await web.kill('SIGKILL');
      });
      await Promise.allSettled(deliveries);
      assert.ok(acknowledged.length >= 5);

      await startWeb();
      await until('all actions', async () => (await waiting()) === 0);
      for (const id of acknowledged) assert.deepEqual([await sessionsOf(id), await actionsOn(id)], [0, 1]);
      for (const { id } of people) assert.ok((await actionsOn(id)) <= 1);
    } finally {
      await end();
    }
  });
});

/** In which state the mails of the queue are. */
const mailJobs = (): Promise<string[]> =>
  database.db.asSystem(async (tx) => {
    await sql`set local role none`.execute(tx);
    const { rows } = await sql<{ state: string }>`select state from pgboss.job where name = ${mailJob.queue}`.execute(
      tx,
    );
    return rows.map(({ state }) => state);
  });

test('a mail that could not be sent before the kill goes out when web and the mail server are back', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  const mails: { to: string; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    async onData(stream, session, done) {
      const text = Buffer.concat(await stream.toArray()).toString();
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address).join(), text });
      done();
    },
  });
  try {
    const env = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Troupe <t@example.com>' };
    const web = await startWeb(env);
    const account = { email: `${randomHex(6)}@example.com`, password: 'correct horse' };
    assert.equal((await post(web, '/api/register', account)).status, 200);
    await until('a try that failed', async () => (await mailJobs()).includes('retry'));
    await web.kill('SIGKILL');

    server.listen(port, '127.0.0.1');
    const next = await startWeb(env);
    await until('the mail', async () => mails.length > 0);
    assert.deepEqual(
      mails.map(({ to }) => to),
      [account.email],
    );
    const token = tokenIn(mails[0]!.text.replaceAll('=\r\n', '').replaceAll('=3D', '='));
    const verified = await post(next, '/api/auth/verify-email', { token });
    assert.deepEqual([verified.status, await verified.json()], [200, { success: true }]);
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await end();
  }
});
