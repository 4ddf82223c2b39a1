import type { Outbound } from '@troupe/kernel';
import { TokenRefused, Trouble, Undeliverable } from '../errors.ts';
import type { Login } from './imap.ts';
import { Wire, type MailServer } from './wire.ts';

/** As much of SMTP submission (RFC 6409) as sending a mail takes. */

interface Reply {
  code: number;
  lines: string[];
}

const MOST_LINES = 200;

async function reply(wire: Wire): Promise<Reply> {
  const lines: string[] = [];
  for (;;) {
    const line = await wire.reply();
    lines.push(line.slice(4));
    if (!/^\d{3}[ -]?/.test(line) || lines.length > MOST_LINES)
      throw new Trouble('The mail server does not speak SMTP there');
    if (line[3] !== '-') return { code: Number(line.slice(0, 3)), lines };
  }
}

async function ask(wire: Wire, command: string): Promise<Reply> {
  wire.write(`${command}\r\n`);
  return reply(wire);
}

/** What a refusal means: later, or never. The server's words are for the owner. */
function refused(what: string, { code, lines }: Reply): Error {
  const why = `The mail server did not take ${what} (${code}): ${lines.join(' ').slice(0, 200)}`;
  return code >= 500 ? new Undeliverable(why) : new Trouble(why);
}

async function hello(wire: Wire, name: string): Promise<string[]> {
  const answer = await ask(wire, `EHLO ${name}`);
  if (answer.code !== 250) throw refused('our greeting', answer);
  return answer.lines.map((line) => line.toUpperCase());
}

async function login(wire: Wire, { user, password }: Login, offers: readonly string[]): Promise<void> {
  const ways = offers.find((line) => line.startsWith('AUTH'))?.split(/[ =]/) ?? [];
  // Some servers of an own network know whom they trust.
  if (ways.length === 0) return;
  const words = (text: string): string => Buffer.from(text).toString('base64');
  let answer: Reply;
  if (ways.includes('PLAIN')) answer = await ask(wire, `AUTH PLAIN ${words(`\0${user}\0${password}`)}`);
  else {
    await ask(wire, 'AUTH LOGIN');
    await ask(wire, words(user));
    answer = await ask(wire, words(password));
  }
  if (answer.code === 235) return;
  if (answer.code >= 500) throw new TokenRefused('The mail server (SMTP) refused the name or the password');
  throw refused('the name and the password', answer);
}

/** A line that begins with a dot gets another: a dot alone is the end. */
const stuffed = (mail: string): string => mail.replaceAll(/\r?\n/g, '\r\n').replaceAll(/^\./gm, '..');

interface Envelope {
  from: string;
  to: string;
  mail: string;
}

/** Signs in, and hands over a mail if there is one. */
export async function submit(outbound: Outbound, server: MailServer, who: Login, envelope?: Envelope): Promise<void> {
  const wire = await Wire.open(outbound, server);
  try {
    const greeting = await reply(wire);
    if (greeting.code !== 220) throw refused('a connection', greeting);
    let offers = await hello(wire, 'troupe.local');
    if (server.security === 'starttls') {
      const begun = await ask(wire, 'STARTTLS');
      if (begun.code !== 220) throw new Trouble('The mail server (SMTP) does not offer STARTTLS there');
      await wire.secure(server.host);
      offers = await hello(wire, 'troupe.local');
    }
    await login(wire, who, offers);
    if (envelope) await handOver(wire, envelope);
    wire.write('QUIT\r\n');
  } finally {
    wire.close();
  }
}

async function handOver(wire: Wire, { from, to, mail }: Envelope): Promise<void> {
  const sender = await ask(wire, `MAIL FROM:<${from}>`);
  if (sender.code !== 250) throw refused('the sender', sender);
  const recipient = await ask(wire, `RCPT TO:<${to}>`);
  if (recipient.code !== 250 && recipient.code !== 251) throw refused('the recipient', recipient);
  const begun = await ask(wire, 'DATA');
  if (begun.code !== 354) throw refused('the mail', begun);
  wire.write(stuffed(mail));
  const taken = await ask(wire, mail.endsWith('\n') ? '.' : '\r\n.');
  if (taken.code !== 250) throw refused('the mail', taken);
}
