import { EventEmitter, once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after } from 'node:test';
import { SMTPServer } from 'smtp-server';
import type { ChannelDeps } from '../channel.ts';
import { createChannel } from '../channels.ts';
import { depsFor } from '../testing.ts';
import { readMail } from './mime.ts';

/** An IMAP server as RFC 3501 and RFC 2177 (IDLE) describe it, as far as one mailbox goes. */

interface Stored {
  uid: number;
  raw: string;
  seen: boolean;
}

interface Mailbox {
  events: EventEmitter;
  mails: Stored[];
  next: number;
  user: string;
  password: string;
  canIdle: boolean;
  isPlain: boolean;
}

/** One client. */
class Visit {
  readonly #box: Mailbox;
  readonly #socket: Socket;
  #buffer = '';
  #idling = '';
  #pleading = '';

  constructor(box: Mailbox, socket: Socket) {
    this.#box = box;
    this.#socket = socket;
    const told = (): void => void (this.#idling !== '' && this.#say(`* ${box.mails.length} EXISTS`));
    box.events.on('mail', told);
    socket
      .on('error', () => {})
      .on('close', () => box.events.off('mail', told))
      .on('data', (chunk: Buffer) => this.#hear(chunk.toString()));
  }

  greet(): void {
    this.#say('* OK ready');
  }

  #say(line: string): void {
    if (this.#socket.writable) this.#socket.write(`${line}\r\n`);
  }

  #hear(text: string): void {
    this.#buffer += text;
    for (let end = this.#buffer.indexOf('\r\n'); end >= 0; end = this.#buffer.indexOf('\r\n')) {
      const line = this.#buffer.slice(0, end);
      this.#buffer = this.#buffer.slice(end + 2);
      this.#line(line);
    }
  }

  #line(line: string): void {
    if (this.#pleading !== '') {
      const [, user, password] = Buffer.from(line, 'base64').toString().split('\0');
      this.#login(this.#pleading, user === this.#box.user && password === this.#box.password);
      this.#pleading = '';
    } else if (this.#idling !== '') {
      if (line.toUpperCase() === 'DONE') this.#say(`${this.#idling} OK idle ended`);
      this.#idling = '';
    } else {
      const [tag = '', verb = '', ...rest] = line.split(' ');
      this.#command(tag, verb.toUpperCase(), rest.join(' '));
    }
  }

  #login(tag: string, isRight: boolean): void {
    this.#say(isRight ? `${tag} OK signed in` : `${tag} NO [AUTHENTICATIONFAILED] Invalid credentials`);
  }

  #command(tag: string, verb: string, args: string): void {
    const { user, password, canIdle, isPlain, mails, next, events } = this.#box;
    if (verb === 'CAPABILITY') {
      this.#say(`* ${['CAPABILITY IMAP4rev1', canIdle && 'IDLE', isPlain && 'AUTH=PLAIN'].filter(Boolean).join(' ')}`);
      this.#say(`${tag} OK`);
    } else if (verb === 'AUTHENTICATE') {
      this.#pleading = tag;
      this.#say('+ ');
    } else if (verb === 'LOGIN') this.#login(tag, args === `"${user}" "${password}"`);
    else if (verb === 'SELECT') {
      this.#say(`* ${mails.length} EXISTS`);
      this.#say('* OK [UIDVALIDITY 77] valid');
      this.#say(`* OK [UIDNEXT ${next}] next`);
      this.#say(`${tag} OK [READ-WRITE] selected`);
    } else if (verb === 'UID') this.#uid(tag, args);
    else if (verb === 'IDLE' && canIdle) {
      this.#idling = tag;
      this.#say('+ idling');
      events.emit('idle');
    } else if (verb === 'LOGOUT') {
      this.#say('* BYE');
      this.#say(`${tag} OK`);
      this.#socket.end();
    } else this.#say(`${tag} BAD unknown`);
  }

  #uid(tag: string, rest: string): void {
    const { mails } = this.#box;
    const [verb = '', which = '', range = ''] = rest.split(' ');
    const from = Number(which === 'UID' ? range.split(':')[0] : which);
    const at = mails.findIndex(({ uid }) => uid === from);
    const mail = mails[at];
    if (verb === 'SEARCH') {
      // As the RFC has it: `*` is the last message, whatever the range began with.
      const found = mails.filter(({ uid }, index) => uid >= from || index === mails.length - 1);
      this.#say(`* SEARCH ${found.map(({ uid }) => uid).join(' ')}`);
    } else if (verb === 'FETCH' && mail) {
      const size = Buffer.byteLength(mail.raw);
      const part = rest.includes('RFC822.SIZE') ? `RFC822.SIZE ${size}` : `BODY[] {${size}}\r\n${mail.raw}`;
      this.#say(`* ${at + 1} FETCH (UID ${from} ${part})`);
    } else if (verb === 'STORE' && mail) mail.seen = true;
    this.#say(`${tag} OK done`);
  }
}

export async function imapServer({ canIdle = true, isPlain = true } = {}) {
  const events = new EventEmitter();
  const box: Mailbox = { events, mails: [], next: 1, user: 'ada@test.example', password: 'secret', canIdle, isPlain };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    new Visit(box, socket).greet();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  /** Ends all connections, as a server that is restarted. */
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  after(() => {
    server.close();
    drop();
  });
  return {
    port: (server.address() as AddressInfo).port,
    events,
    mails: box.mails,
    drop,
    put(raw: string): void {
      box.mails.push({ uid: box.next++, raw: raw.replaceAll(/\r?\n/g, '\r\n'), seen: false });
      events.emit('mail');
    },
  };
}

export const ADA = 'ada@test.example';
export const PASSWORD = 'secret';

/** A real SMTP server that keeps what it is given. */
export async function smtpServer({ refuse = 0, offersTls = false } = {}) {
  const events = new EventEmitter();
  const sent: { from: string; to: string; raw: Buffer }[] = [];
  let refusals = refuse;
  const server = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      username === ADA && password === PASSWORD ? done(null, { user: ADA }) : done(new Error('Invalid login')),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (refusals-- > 0) return done(Object.assign(new Error('Try later'), { responseCode: 451 }));
        const { mailFrom, rcptTo } = session.envelope;
        const [from, to] = [mailFrom ? mailFrom.address : '', rcptTo[0]?.address ?? ''];
        sent.push({ from, to, raw: Buffer.concat(chunks) });
        done();
        events.emit('mail');
      });
    },
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  after(() => server.close());
  let read = 0;
  const next = async () => {
    while (sent.length <= read) await once(events, 'mail');
    const { raw, ...envelope } = sent[read++]!;
    const mail = readMail(raw);
    const header = (name: string): string => mail.headers.get(name) ?? '';
    return { ...envelope, raw: raw.toString(), ...mail, header };
  };
  return { port: (server.server.address() as AddressInfo).port, next, sent };
}

export const mail = (id: string, text: string, headers: Record<string, string> = {}): string => {
  const all = {
    From: 'Ann <ann@people.example>',
    To: ADA,
    Subject: 'A question',
    'Message-ID': `<${id}@people.example>`,
    ...headers,
  };
  return `${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n')}\r\n\r\n${text}\r\n`;
};

type Ports = { smtp: number; imap?: number };
export const make = (
  agent: ChannelDeps['agent'],
  { smtp, imap }: Ports,
  settings = {},
  more: Partial<ChannelDeps> = {},
) =>
  createChannel(
    'email',
    depsFor(
      agent,
      '',
      {
        address: ADA,
        password: PASSWORD,
        smtpHost: '127.0.0.1',
        smtpPort: String(smtp),
        smtpSecurity: 'none',
        allowed: 'ann@people.example',
        ...(imap !== undefined && { imapHost: '127.0.0.1', imapPort: String(imap), imapSecurity: 'none' }),
        ...settings,
      },
      more,
    ),
  );
