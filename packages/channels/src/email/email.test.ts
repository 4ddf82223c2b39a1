import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { after, describe, test } from 'node:test';
import { createOutbound } from '@troupe/kernel';
import { testAgent, until, webhookOf } from '../testing.ts';
import { emailSecret } from './email.ts';
import { Imap } from './imap.ts';
import { ADA, imapServer, mail, make, PASSWORD, smtpServer } from './mail-testing.ts';
import { readMail } from './mime.ts';

describe('mail', () => {
  test('is read as it arrives and answered in its thread; what was there before is left alone', async () => {
    const [imap, smtp] = [await imapServer(), await smtpServer()];
    imap.put(mail('old', 'from before'));
    const { agent, store } = await testAgent();
    const channel = await make(agent, { smtp: smtp.port, imap: imap.port });
    const idle = once(imap.events, 'idle');
    await channel.start();
    await idle;
    imap.put(mail('one', 'How are you?'));
    const first = await smtp.next();
    assert.deepEqual([first.from, first.to], [ADA, 'ann@people.example']);
    assert.equal(first.text, 'heard Subject: A question\n\nHow are you?');
    assert.equal(first.subject, 'Re: A question');
    assert.equal(first.header('in-reply-to'), '<one@people.example>');
    assert.equal(first.header('auto-submitted'), 'auto-replied');

    // An answer to our answer that names nothing else, and one that names all before it.
    imap.put(mail('two', 'And now?', { 'In-Reply-To': first.header('message-id') }));
    const second = await smtp.next();
    imap.put(mail('three', 'Still?', { References: `<one@people.example> ${second.header('message-id')}` }));
    const third = await smtp.next();
    assert.match(third.header('references'), /^<one@people\.example> .*<three@people\.example>$/);
    await until(async () => imap.mails.filter(({ seen }) => seen).length === 3);
    await channel.stop();
    const talks = (await store.sessions({ limit: 9, offset: 0 })).filter(({ key }) => key !== 'listener');
    assert.equal(talks.length, 1, 'one conversation');
    assert.equal((await store.receipts({ limit: 9 })).length, 3);
  });

  test('of strangers, programs, lists, forgers and itself nothing is answered, and the owner sees why', async () => {
    const [imap, smtp] = [await imapServer({ isPlain: false }), await smtpServer()];
    const { agent, store, model } = await testAgent();
    const channel = await make(
      agent,
      { smtp: smtp.port, imap: imap.port },
      { allowed: 'ann@people.example, @friends.example' },
    );
    const idle = once(imap.events, 'idle');
    await channel.start();
    await idle;
    const cases: [string, Record<string, string>, RegExp][] = [
      ['stranger', { From: 'eve@evil.example' }, /Not among those/],
      ['pretender', { From: '"ann@people.example" <eve@evil.example>' }, /Not among those/],
      ['two senders', { From: 'ann@people.example, eve@evil.example' }, /no sender/],
      ['auto', { 'Auto-Submitted': 'auto-replied' }, /Auto-Submitted/],
      ['bulk', { Precedence: 'bulk' }, /Precedence/],
      ['list', { 'List-Id': '<x.people.example>' }, /mailing list/],
      ['own', { From: `Ada <${ADA.toUpperCase()}>` }, /own address/],
      ['bounce', { From: 'MAILER-DAEMON@friends.example' }, /program/],
      [
        'forged',
        { 'Authentication-Results': 'mx.test.example; dkim=none; dmarc=fail header.from=people.example' },
        /DMARC/,
      ],
      [
        'forged by two',
        {
          'Authentication-Results': 'a.example; dmarc=pass\r\nAuthentication-Results: mx.test.example;\r\n dmarc=fail',
        },
        /DMARC/,
      ],
    ];
    for (const [id, headers] of cases) imap.put(mail(id.replaceAll(' ', '-'), 'hello', headers));
    imap.put(mail('friend', 'hello', { From: 'Bo <bo@friends.example>' }));
    assert.equal((await smtp.next()).to, 'bo@friends.example');
    await channel.stop();
    const receipts = await store.receipts({ limit: 20 });
    for (const [id, , why] of cases) {
      const found = receipts.find((one) => one.id === `<${id.replaceAll(' ', '-')}@people.example>`);
      assert.equal(found?.state, 'ignored', id);
      assert.match(found?.note ?? '', why, id);
    }
    assert.equal(model.requests.length, 1);
    assert.equal(smtp.sent.length, 1);
  });

  test('a mail that answers itself ends after a bound for each hour', async () => {
    const [imap, smtp] = [await imapServer(), await smtpServer()];
    const { agent, store } = await testAgent();
    const channel = await make(agent, { smtp: smtp.port, imap: imap.port });
    const idle = once(imap.events, 'idle');
    await channel.start();
    await idle;
    imap.put(mail('0', 'ping'));
    // A program that hides what it is answers each of our mails.
    for (let round = 1; round <= 20; round++) {
      const { header } = await smtp.next();
      imap.put(mail(String(round), 'pong', { 'In-Reply-To': header('message-id') }));
    }
    const last = await until(async () =>
      (await store.receipts({ limit: 30 })).find(({ state }) => state === 'ignored'),
    );
    assert.match(last.note ?? '', /More than 20 mails in an hour/);
    await channel.stop();
    assert.equal(smtp.sent.length, 20);
  });

  test('comes by webhook too, with files, once; attachments go back with the answer', async () => {
    const smtp = await smtpServer({ refuse: 1 });
    const { agent, store, files } = await testAgent({ script: (said) => `${said} [see](out/täble.txt)` });
    await files.write('out/täble.txt', 'one two');
    const channel = await make(agent, { smtp: smtp.port }, {}, { holdMs: 30 });
    await channel.start();
    const base = await webhookOf(channel);
    const hook = `${base}/channels/email/${emailSecret(ADA, PASSWORD)}`;
    const raw = mail(
      'w1',
      [
        '--b1\r\nContent-Type: multipart/alternative; boundary=b2\r\n',
        '--b2\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n.\r\n--b2\r\nContent-Type: text/html\r\n\r\n<p>no</p>\r\n--b2--',
        `--b1\r\nContent-Type: text/csv; name="../x.csv"\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="../x.csv"\r\n\r\n${Buffer.from('a;b').toString('base64')}\r\n--b1--`,
      ].join('\r\n'),
      { 'Content-Type': 'multipart/mixed; boundary="b1"', Subject: '=?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?utf-8?B?IQ==?=' },
    );
    const post = (body: string, type = 'message/rfc822', at = hook) =>
      fetch(at, { method: 'POST', body, headers: { 'content-type': type } });
    assert.equal((await post(raw, 'message/rfc822', `${base}/channels/email/wrong`)).status, 404);
    assert.equal((await post(raw, 'application/json')).status, 400);
    assert.equal((await post('')).status, 400);
    assert.equal((await fetch(hook)).status, 405);
    for (const one of await Promise.all([post(raw), post(raw), post(raw)])) assert.equal(one.status, 200);
    const answer = await smtp.next();
    assert.match(answer.text, /Subject: Grüße!\n\nGrüße[^]*uploads\/mail-[0-9a-f]{8}-0-x\.csv[^]*a;b/);
    assert.equal(answer.subject, 'Re: Grüße!');
    assert.deepEqual(
      answer.files.map(({ name, bytes }) => [name, bytes.toString()]),
      [['täble.txt', 'one two']],
    );
    await until(async () => (await store.receipts({ limit: 1 }))[0]?.state === 'answered');
    await channel.stop();
    assert.equal(smtp.sent.length, 1);
    assert.equal((await store.receipts({ limit: 9 })).length, 1);
  });

  test('what arrives while the server is away is read afterwards, without IDLE too', async () => {
    const [imap, smtp] = [await imapServer({ canIdle: false }), await smtpServer()];
    const { agent } = await testAgent();
    const channel = await make(agent, { smtp: smtp.port, imap: imap.port }, {}, { pollSeconds: 0.02 });
    await channel.start();
    imap.put(mail('first', 'hello'));
    // Before or after the first look: the second one comes when the place is known.
    await until(async () => (await agent.store.channelState('email'))['mailbox'] !== undefined);
    imap.drop();
    imap.put(mail('second', 'are you back?'));
    for (;;) if ((await smtp.next()).text.includes('are you back?')) break;
    await channel.stop();
  });

  test('wrong passwords, dead and private servers and bad certificates are told', async () => {
    const [imap, smtp, withTls] = [await imapServer(), await smtpServer(), await smtpServer({ offersTls: true })];
    const { agent } = await testAgent();
    const ports = { smtp: smtp.port, imap: imap.port };
    assert.equal(await (await make(agent, ports)).test('bo@friends.example'), ADA);
    assert.equal((await smtp.next()).to, 'bo@friends.example');
    const wrong = await make(agent, ports, { password: 'wrong' });
    await assert.rejects(wrong.test(), /IMAP\) refused the name/);
    const wrongSmtp = await make(agent, { smtp: smtp.port }, { password: 'wrong' });
    await assert.rejects(wrongSmtp.test(), /SMTP\) refused the name/);
    await assert.rejects((await make(agent, ports, { smtpSecurity: 'starttls' })).test(), /does not offer STARTTLS/);
    const bad = await make(agent, { smtp: withTls.port }, { smtpSecurity: 'starttls' });
    await assert.rejects(bad.test(), /certificate/);
    await assert.rejects((await make(agent, { smtp: 1 })).test(), { name: 'OutboundError' });
    await assert.rejects((await make(agent, { smtp: imap.port })).test(), /does not speak SMTP/);
    const strict = createOutbound();
    after(() => strict.close());
    await assert.rejects((await make(agent, ports, {}, { outbound: strict })).test(), { kind: 'blocked' });
    await assert.rejects((await make(agent, ports)).test('x>\r\nRCPT TO:<eve@evil.example'), /no mail address/);
  });
});

/** Answers everything with more and more, until its client goes; tells how many bytes it got rid of. */
async function flood(piece: Buffer, most: number) {
  const over = Promise.withResolvers<number>();
  const server = createServer((socket) => {
    let sent = 0;
    socket.on('error', () => undefined).on('close', () => over.resolve(sent));
    socket.write('* OK ready\r\n');
    socket.once('data', () => {
      const go = (): void => {
        for (; sent < most && socket.writable; sent += piece.length) if (!socket.write(piece)) break;
        if (sent >= most) socket.destroy();
      };
      socket.on('drain', go);
      go();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return { port: (server.address() as AddressInfo).port, over: over.promise };
}

describe('hostile mail servers', () => {
  const MB = 1024 * 1024;
  for (const [what, piece] of Object.entries({
    'literals without end': Buffer.concat([Buffer.from(`* X {${MB}}\r\n`), Buffer.alloc(MB, 'x'), Buffer.from('\r\n')]),
    'a line of literals without end': Buffer.concat([Buffer.from(`{${MB}}\r\n`), Buffer.alloc(MB, 'x')]),
    'empty literals without end': Buffer.from('{0}\r\n'.repeat(100_000)),
    'lines without end': Buffer.from(`* ${'x'.repeat(60_000)}\r\n`.repeat(20)),
  }))
    test(`are left when they send ${what}`, async () => {
      const { port, over } = await flood(piece, 100 * MB);
      const outbound = createOutbound({ allowLoopback: true });
      after(() => outbound.close());
      const opened = Imap.open(outbound, { host: '127.0.0.1', port, security: 'none' }, { user: 'a', password: 'b' });
      await assert.rejects(opened, /sent more than was asked for/);
      // What the sockets hold is not held by us.
      assert.ok((await over) < 20 * MB);
    });
});

/** As a TLS connection is when each byte comes in a record of its own. */
class ByBytes extends Duplex {
  sent = 0;
  override _construct(done: () => void): void {
    this.push('* OK ready\r\n');
    done();
  }
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const [tag = ''] = chunk.toString().split(' ');
    const words = Buffer.from(`* X {1000000}\r\n${'x'.repeat(1_000_000)}\r\n${tag} OK done\r\n`);
    for (; this.sent < words.length && !this.destroyed; this.sent += 1)
      this.push(words.subarray(this.sent, this.sent + 1));
    done();
  }
}

test('a mail server that sends bytes one by one is left', async () => {
  const server = new ByBytes();
  const outbound = { ...createOutbound(), connect: async () => server as unknown as Socket };
  const opened = Imap.open(outbound, { host: 'x', port: 1, security: 'none' }, { user: 'a', password: 'b' });
  await assert.rejects(opened, /too many small pieces/);
});

describe('hostile mails', () => {
  test('are read in time, whatever they hold', () => {
    const nested = Array.from(
      { length: 500 },
      (_, depth) => `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`,
    ).join('');
    const bodies = [
      nested,
      `Content-Type: text/html\r\n\r\n${'<style>'.repeat(50_000)}`,
      `Content-Type: text/html\r\n\r\n${'<'.repeat(1e6)}`,
      `Content-Transfer-Encoding: quoted-printable\r\n\r\n${' '.repeat(5e6)}=`,
      `Content-Type: multipart/mixed; boundary="-"\r\n\r\n${'-'.repeat(5e6)}`,
      `Subject: ${'=?'.repeat(100_000)}\r\n\r\n`,
      `From: ${'<'.repeat(100_000)}\r\n\r\n`,
      `References: ${'<a'.repeat(100_000)}\r\n\r\n`,
      `Content-Type: application/pdf\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${'=41'.repeat(8e6)}`,
      `Content-Type: multipart/mixed; boundary=a\r\n\r\n${'--a\n'.repeat(6e6)}`,
      `Content-Type: multipart/mixed; boundary=a\r\n\r\n${`--a\r\nx: y\r\n${' z\r\n'.repeat(5e4)}\r\n`.repeat(99)}`,
      `Content-Type: multipart/mixed; boundary=a\r\n\r\n${`--a\r\nContent-Type: text/html\r\n\r\n${'<b>'.repeat(8e4)}\r\n`.repeat(99)}`,
      '\0'.repeat(1000),
      '',
    ];
    const began = Date.now();
    for (const body of bodies) readMail(Buffer.from(body));
    assert.ok(Date.now() - began < 20_000);
  });

  test('what is quoted is read byte by byte, also where it is broken', () => {
    const said = 'a=3Db =C3=BC=\r\nc=\nd=4 =zz = =E2=82=AC=';
    const raw = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${said}`;
    assert.equal(readMail(Buffer.from(raw)).text, 'a=b ücd=4 =zz = €=');
  });

  test('text of HTML is what a person reads', () => {
    const raw = 'Content-Type: text/html\r\n\r\n<style>p{}</style><p>a &lt;b&gt;<br>c</p><script>x()</script><p>d</p>';
    assert.equal(readMail(Buffer.from(raw)).text, 'a <b>\nc\n\nd');
  });
});
