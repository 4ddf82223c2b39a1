import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { sql } from 'kysely';
import { SMTPServer } from 'smtp-server';
import { mailJob } from '@troupe/contract';
import { createLog } from '@troupe/kernel';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { startWeb, tokenIn } from '@troupe/testing/services/web';

/** A port on which nobody listens yet. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

test('a mail server that is down delays the mail and not the answer', async (t) => {
  const port = await freePort();
  const web = await startWeb({ env: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Troupe <t@example.com>' } });
  t.after(() => web.stop());
  const person = await web.signUp();
  const asked = await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  assert.equal(asked.status, 200);
  // Tried before the server came up.
  await untilJobs(web, (states) => states.includes('retry'));

  const mails: { to: string; text: string }[] = [];
  let arrived!: () => void;
  const both = new Promise<void>((resolve) => (arrived = resolve));
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    async onData(stream, session, done) {
      const text = Buffer.concat(await stream.toArray()).toString();
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address).join(), text });
      done();
      if (mails.length === 2) arrived();
    },
  });
  server.listen(port, '127.0.0.1');
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  await both;
  assert.ok(mails.every(({ to, text }) => to === person.email && text.includes('From: Troupe <t@example.com>')));
  const reset = mails.find(({ text }) => text.includes('reset-password'))?.text.replaceAll('=\r\n', '') ?? '';
  const token = tokenIn(reset.replaceAll('=3D', '='));
  const done = await web.visitor().ask('POST', '/api/auth/reset-password', { token, password: 'brand new one' });
  assert.equal(done.status, 200);
});

type Web = Awaited<ReturnType<typeof startWeb>>;

const jobs = (web: Web) =>
  web.deps.db.asSystem(async (tx) => {
    await sql`set local role none`.execute(tx);
    return (
      await sql<{
        state: string;
        data: unknown;
      }>`select state, data from pgboss.job where name = ${mailJob.queue}`.execute(tx)
    ).rows;
  });

/** Until what the queue holds is as it should be. */
async function untilJobs(web: Web, isSo: (states: string[]) => boolean): Promise<void> {
  while (!isSo((await jobs(web)).map(({ state }) => state))) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('without a mail server, and with files in the database, the mail is there', async (t) => {
  const web = await startWeb({ env: { BLOB_STORE: 'postgres' } });
  t.after(() => web.stop());
  const { email } = await web.signUp();
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email });
  const kept = () => web.deps.db.system.selectFrom('outbox_mails').selectAll().where('recipient', '=', email).execute();
  await allJobsRan(web.deps.jobs);
  assert.ok((await kept()).some(({ message }) => message.includes('reset-password')));
  assert.deepEqual(web.mails(), [], 'and no file is');
});

test('without a mail server the mail is a file and its link is logged; the queue holds no secret', async (t) => {
  let found!: (token: string) => void;
  const logged = new Promise<string>((resolve) => (found = resolve));
  const write = (line: string) => line.includes('/reset-password?token=') && found(tokenIn(line));
  const log = createLog({ level: 'info', service: 'web', destination: { write } });
  const web = await startWeb({ log });
  t.after(() => web.stop());
  const person = await web.signUp();
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  const token = tokenIn(await web.mailTo(person.email, /Set a new password/));
  assert.equal(await logged, token);
  const rows = await jobs(web);
  assert.ok(rows.length > 0);
  assert.ok(!JSON.stringify(rows).includes(token));
});

test('one letterbox gets at most ten mails of a kind an hour', async (t) => {
  const web = await startWeb();
  t.after(() => web.stop());
  const person = await web.signUp();
  for (let asked = 0; asked < 13; asked += 1)
    await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  await untilJobs(web, (states) => states.length === 10 && states.every((state) => state === 'completed'));
  assert.equal(web.mails().filter((mail) => mail.includes(`To: ${person.email}`)).length, 10);
});

test('a forgotten password leaves a job and a mail for an account, and nothing for an address that nobody has', async (t) => {
  const web = await startWeb();
  t.after(() => web.stop());
  const person = await web.signUp();
  const counts = [];
  for (const email of [person.email, 'nobody@example.com']) {
    await web.visitor().ask('POST', '/api/auth/forgot-password', { email });
    counts.push((await jobs(web)).length);
  }
  assert.deepEqual(counts, [1, 1]);
  await untilJobs(web, (states) => states.every((state) => state === 'completed'));
  assert.equal(web.mails().length, 1);
});
