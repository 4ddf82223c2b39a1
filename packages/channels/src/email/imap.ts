import type { Outbound } from '@troupe/kernel';
import { TokenRefused, Trouble } from '../errors.ts';
import { Wire, type MailServer } from './wire.ts';

/** As much of IMAP (RFC 9051, and 3501 before it) as reading a mailbox takes, with IDLE where the server has it. */

export interface Login {
  user: string;
  password: string;
}

interface Untagged {
  /** The line, literals left out. */
  text: string;
  literals: Buffer[];
}

const LITERAL = /\{(\d{1,10})\+?\}$/;
/** Of an answer, its literals included; a mail may be as large as mails are, and a little more. */
const MOST_ANSWER = 1024 * 1024;
const MOST_MAIL = 32 * 1024 * 1024;
const MOST_LINES = 10_000;
/** While nobody asks for anything. */
const MOST_IDLE_LINES = 1000;
/** In one line. */
const MOST_LITERALS = 100;

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;

export class Imap {
  readonly #wire: Wire;
  #number = 0;
  #capabilities: ReadonlySet<string> = new Set();
  /** The server said that there is more in the mailbox. */
  #news = false;
  /** Bytes that the answer may still have. */
  #room = MOST_ANSWER;

  private constructor(wire: Wire) {
    this.#wire = wire;
  }

  static async open(outbound: Outbound, server: MailServer, login: Login): Promise<Imap> {
    const wire = await Wire.open(outbound, server);
    try {
      const imap = new Imap(wire);
      if (!/^\* OK\b/i.test(await wire.reply())) throw new Trouble('The mail server does not speak IMAP there');
      await imap.#learn();
      if (server.security === 'starttls') {
        await imap.#command('STARTTLS');
        await wire.secure(server.host);
        await imap.#learn();
      }
      await imap.#login(login);
      await imap.#learn();
      return imap;
    } catch (error) {
      wire.close();
      throw error;
    }
  }

  get canIdle(): boolean {
    return this.#capabilities.has('IDLE');
  }

  close(): void {
    this.#wire.close();
  }

  async #learn(): Promise<void> {
    const lines = await this.#command('CAPABILITY');
    const line = lines.findLast(({ text }) => /^CAPABILITY /i.test(text))?.text ?? '';
    this.#capabilities = new Set(line.toUpperCase().split(' '));
  }

  async #login({ user, password }: Login): Promise<void> {
    const isPlain = this.#capabilities.has('AUTH=PLAIN');
    const words = Buffer.from(`\0${user}\0${password}`).toString('base64');
    const command = isPlain ? 'AUTHENTICATE PLAIN' : `LOGIN ${quoted(user)} ${quoted(password)}`;
    try {
      await this.#command(command, isPlain ? words : undefined);
    } catch (error) {
      if (error instanceof No) throw new TokenRefused('The mail server (IMAP) refused the name or the password');
      throw error;
    }
  }

  /** One line with the literals in it. */
  async #read(first?: string): Promise<Untagged> {
    let text = first ?? (await this.#wire.reply());
    const literals: Buffer[] = [];
    for (let found = LITERAL.exec(text); found; found = LITERAL.exec(text)) {
      const size = Number(found[1]);
      this.#take(literals.length < MOST_LITERALS ? size : Infinity);
      literals.push(await this.#wire.bytes(size));
      text = text.slice(0, found.index) + (await this.#wire.reply());
    }
    this.#take(text.length);
    return { text, literals };
  }

  /** All that one answer brings is held until its end. */
  #take(size: number): void {
    this.#room -= size;
    if (this.#room < 0) throw new Trouble('The mail server sent more than was asked for');
  }

  #heard({ text }: Untagged): void {
    if (/^\d+ (?:EXISTS|RECENT)\b/i.test(text)) this.#news = true;
    if (/^BYE\b/i.test(text)) this.#wire.close();
  }

  /** All that came with the answer. Throws when the server says no; `words` follow when it asks for more. */
  async #command(command: string, words?: string, most = MOST_ANSWER): Promise<Untagged[]> {
    const tag = `a${++this.#number}`;
    this.#room = most;
    this.#wire.write(`${tag} ${command}\r\n`);
    const found: Untagged[] = [];
    while (found.length < MOST_LINES) {
      const line = await this.#read();
      if (line.text.startsWith('+') && words !== undefined) this.#wire.write(`${words}\r\n`);
      else if (line.text.startsWith('* ')) {
        const untagged = { ...line, text: line.text.slice(2) };
        this.#heard(untagged);
        found.push(untagged);
      } else if (line.text.startsWith(`${tag} `)) {
        if (/^\S+ OK\b/i.test(line.text)) return found;
        throw new No(`The mail server (IMAP) refused ${command.split(' ')[0]}`);
      }
    }
    throw new Trouble('The mail server says more than anybody asked for');
  }

  /** Opens the inbox; what is newer than `next` is yet to come. */
  async select(): Promise<{ validity: number; next: number }> {
    const lines = await this.#command('SELECT INBOX');
    const value = (name: string): number =>
      Number(
        lines
          .map(({ text }) => text.toUpperCase().split(`[${name} `)[1])
          .find(Boolean)
          ?.split(']')[0] ?? 0,
      );
    return { validity: value('UIDVALIDITY'), next: value('UIDNEXT') };
  }

  /** Messages after this one, in order. */
  async after(uid: number): Promise<number[]> {
    this.#news = false;
    const lines = await this.#command(`UID SEARCH UID ${uid + 1}:*`);
    const found = lines.filter(({ text }) => /^SEARCH\b/i.test(text)).flatMap(({ text }) => text.split(' ').slice(1));
    // The last one is found by `*`, however small its number.
    return [...new Set(found.map(Number))]
      .filter((one) => Number.isSafeInteger(one) && one > uid)
      .toSorted((a, b) => a - b);
  }

  async size(uid: number): Promise<number> {
    const lines = await this.#command(`UID FETCH ${uid} (RFC822.SIZE)`);
    const found = lines.map(({ text }) => /RFC822\.SIZE (\d+)/i.exec(text)?.[1]).find(Boolean);
    return Number(found ?? 0);
  }

  /** Undefined: it is gone. */
  async fetch(uid: number): Promise<Buffer | undefined> {
    const lines = await this.#command(`UID FETCH ${uid} (BODY.PEEK[])`, undefined, MOST_MAIL);
    return lines.find(({ text, literals }) => /FETCH/i.test(text) && literals.length > 0)?.literals[0];
  }

  async markSeen(uid: number): Promise<void> {
    await this.#command(`UID STORE ${uid} +FLAGS.SILENT (\\Seen)`);
  }

  /** Until there is something new, or the time is over. */
  async idle(waitMs: number): Promise<void> {
    if (this.#news) return;
    const tag = `a${++this.#number}`;
    this.#wire.write(`${tag} IDLE\r\n`);
    const until = Date.now() + waitMs;
    // A server that has nothing to say says little: lines without end would be read for as long as they come.
    let lines = 0;
    const count = (): void => {
      if (++lines > MOST_IDLE_LINES) throw new Trouble('The mail server says more than anybody asked for');
    };
    while (!this.#news) {
      const line = await this.#wire.line(Math.max(until - Date.now(), 0));
      if (line === undefined) break;
      count();
      if (line.startsWith(`${tag} `)) throw new Trouble('The mail server does not let us wait for mail');
      this.#room = MOST_ANSWER;
      const { text, literals } = await this.#read(line);
      if (text.startsWith('* ')) this.#heard({ text: text.slice(2), literals });
    }
    this.#wire.write('DONE\r\n');
    this.#room = MOST_ANSWER;
    for (;;) {
      const { text, literals } = await this.#read();
      count();
      if (text.startsWith(`${tag} `)) return;
      if (text.startsWith('* ')) this.#heard({ text: text.slice(2), literals });
    }
  }

  async logout(): Promise<void> {
    await this.#command('LOGOUT').catch(() => []);
    this.close();
  }
}

/** The server said no to a command. */
class No extends Trouble {}
