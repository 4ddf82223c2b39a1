import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { sql } from 'kysely';
import { SMTPServer } from 'smtp-server';
import { createLog } from '@troupe/kernel';
import { startWeb, tokenIn } from '../../../tests/lib/web.ts';

/** A port on which nobody listens yet. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

test('a mail server that is down delays the mail and not the answer', async () => {
  const port = await freePort();
  const web = await startWeb({ env: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Troupe <t@example.com>' } });
  const person = await web.signUp();
  const asked = await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  assert.equal(asked.status, 200);
  await untilTried(web);

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
  await both;
  assert.ok(mails.every(({ to, text }) => to === person.email && text.includes('From: Troupe <t@example.com>')));
  const reset = mails.find(({ text }) => text.includes('reset-password'))?.text.replaceAll('=\r\n', '') ?? '';
  const token = tokenIn(reset.replaceAll('=3D', '='));
  const done = await web.visitor().ask('POST', '/api/auth/reset-password', { token, password: 'brand new one' });
  assert.equal(done.status, 200);
  await new Promise<void>((resolve) => server.close(resolve));
  await web.stop();
});

/** Until a try has failed: the mail was on its way before the server came up. */
async function untilTried(web: Awaited<ReturnType<typeof startWeb>>): Promise<void> {
  for (;;) {
    const { rows } = await web.deps.db.asSystem(async (tx) => {
      await sql`set local role none`.execute(tx);
      return sql`select from pgboss.job where name = 'mail' and (state = 'retry' or retry_count > 0)`.execute(tx);
    });
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('without a mail server the mail is a file and its link is logged; the queue holds no secret', async () => {
  let found!: (token: string) => void;
  const logged = new Promise<string>((resolve) => (found = resolve));
  const write = (line: string) => line.includes('/reset-password?token=') && found(tokenIn(line));
  const log = createLog({ level: 'info', service: 'web', destination: { write } });
  const web = await startWeb({ log });
  const person = await web.signUp();
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  const token = tokenIn(await web.mailTo(person.email, /Set a new password/));
  assert.equal(await logged, token);
  const { rows } = await web.deps.db.asSystem(async (tx) => {
    await sql`set local role none`.execute(tx);
    return sql<{ data: unknown }>`select data from pgboss.job where name = 'mail'`.execute(tx);
  });
  assert.ok(rows.length > 0);
  assert.ok(!JSON.stringify(rows).includes(token));
  await web.stop();
});

test('one letterbox gets at most ten mails of a kind an hour', async () => {
  const web = await startWeb();
  const person = await web.signUp();
  const last = await web.signUp();
  for (let asked = 0; asked < 13; asked += 1)
    await web.visitor().ask('POST', '/api/auth/forgot-password', { email: person.email });
  await web.visitor().ask('POST', '/api/auth/forgot-password', { email: last.email });
  await web.mailTo(last.email, /Set a new password/);
  assert.equal(web.mails().filter((mail) => mail.includes(`To: ${person.email}`)).length, 10);
  await web.stop();
});
