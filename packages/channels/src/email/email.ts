import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { plainName, readBody, whyNotKept, type ChannelMessage } from '@troupe/agent';
import { FILE_BYTES, MOST_ATTACHMENTS } from '@troupe/contract';
import { AppError, sha256Hex } from '@troupe/kernel';
import type { ChannelDeps, ChannelSettings, Post, Service } from '../channel.ts';
import { Undeliverable } from '../errors.ts';
import { missing } from '../files.ts';
import { sendersIn } from '../senders.ts';
import { composeMail, type Letter } from './compose.ts';
import { Imap, type Login } from './imap.ts';
import { isAddress, type Mail } from './mime.ts';
import { readInThread } from './read.ts';
import { answerId, threadOf, whyIgnored } from './rules.ts';
import { submit } from './smtp.ts';
import type { MailServer } from './wire.ts';

/** Mail: read over IMAP as it arrives, or handed to our webhook; answered over SMTP, in the thread of the mail. */

const MOST_MAIL_BYTES = 25 * 1024 * 1024;
const IDLE_MS = 9 * 60_000;
const AN_HOUR_MS = 3_600_000;
/** After so many failures a mail goes on without the file that cannot be kept: the others behind it wait for it. */
const PATIENCE = 6;
const MOST_REMEMBERED = 100;
/** Mails of one sender in an hour: whoever writes more is a program. */
const MOST_AN_HOUR = 20;

const SECURITIES = ['tls', 'starttls', 'none'] as const;

function server(settings: ChannelSettings, name: 'imap' | 'smtp', tlsPort: number, otherPort: number): MailServer {
  const security = SECURITIES.find((one) => one === settings[`${name}Security`]) ?? 'tls';
  const port = Number(settings[`${name}Port`] ?? (security === 'tls' ? tlsPort : otherPort));
  return { host: settings[`${name}Host`] ?? '', port, security };
}

/** Of a channel that was set up before addresses had a secret of their own. */
export const emailSecret = (address: string, password: string): string =>
  sha256Hex(`email webhook ${address} ${password}`).slice(0, 32);

interface Reading extends Pick<ChannelDeps, 'pool' | 'owner'> {
  own: string;
  allowed: readonly string[];
  now: () => Date;
  /** How often files of a mail could not be kept, by its id. */
  failures: Map<string, number>;
}

/** Whether it is tried again; a mailbox that fails with each of its mails is not remembered for ever. */
function isPatient(failures: Reading['failures'], id: string): boolean {
  const before = failures.get(id) ?? 0;
  if (failures.size >= MOST_REMEMBERED) failures.clear();
  failures.set(id, before + 1);
  return before < PATIENCE;
}

/** The files lie under names of the mail: one that comes twice puts them into the same place. */
async function bringFiles(
  post: Post,
  { files }: Mail,
  id: string,
  failures: Reading['failures'],
): Promise<{ paths: string[]; notes: string[] }> {
  const paths: string[] = [];
  const notes: string[] = [];
  const mark = sha256Hex(id).slice(0, 8);
  for (const [index, { name, bytes }] of files.slice(0, MOST_ATTACHMENTS).entries()) {
    const plain = plainName(name);
    try {
      if (bytes.length > FILE_BYTES) notes.push(missing(plain, 'it is too large'));
      else paths.push(await post.bring(`mail-${mark}-${index}-${plain}`, bytes));
    } catch (error) {
      const why = whyNotKept(error);
      if (why === undefined && isPatient(failures, id)) throw error;
      notes.push(missing(plain, why ?? 'it could not be kept'));
    }
  }
  failures.delete(id);
  if (files.length > MOST_ATTACHMENTS) notes.push(`[only the first ${MOST_ATTACHMENTS} files were taken]`);
  return { paths, notes };
}

/** What happens with one mail, by whichever way it came. */
async function takeMail(post: Post, raw: Buffer, reading: Reading): Promise<void> {
  const { own, allowed, now, pool, owner, failures } = reading;
  const mail = await readInThread(pool, owner, raw);
  if (!mail) {
    const unread = {
      id: `unread:${createHash('sha256').update(raw).digest('hex').slice(0, 32)}`,
      chat: 'mail',
      sender: 'unknown',
      text: '',
    };
    return post.ignore(unread, 'The mail takes too much time or memory to read');
  }
  const { id, chat, root, references } = threadOf(mail, own);
  const message: ChannelMessage = { id, chat, sender: mail.from || 'nobody', text: '' };
  const why = whyIgnored(mail, own, allowed);
  if (why !== undefined) return post.ignore(message, why);
  if ((await post.count(mail.from, new Date(now().getTime() - AN_HOUR_MS))) >= MOST_AN_HOUR)
    return post.ignore(message, `More than ${MOST_AN_HOUR} mails in an hour`);
  const { paths, notes } = await bringFiles(post, mail, id, failures);
  const text = [mail.subject && `Subject: ${mail.subject}`, mail.text, ...notes].filter(Boolean).join('\n\n');
  const extra = { to: mail.from, subject: mail.subject, root, references };
  await post.take({ ...message, text, paths, extra });
}

async function readNew(imap: Imap, post: Post, reading: Reading, validity: number, last: number): Promise<number> {
  let uid = last;
  for (const next of await imap.after(last)) {
    const size = await imap.size(next);
    const raw = size > MOST_MAIL_BYTES ? undefined : await imap.fetch(next);
    if (raw) await takeMail(post, raw, reading);
    else if (size > MOST_MAIL_BYTES)
      await post.ignore(
        { id: `uid:${validity}:${next}`, chat: 'mail', sender: 'unknown', text: '' },
        'The mail is larger than 25 MB',
      );
    uid = next;
    await post.remember('mailbox', { validity, uid });
    await imap.markSeen(next);
  }
  return uid;
}

/** What was there before the channel was set up stays unanswered; so does all when the mailbox was made anew. */
async function startAt(imap: Imap, post: Post): Promise<{ validity: number; uid: number }> {
  const { validity, next } = await imap.select();
  const kept = (await post.remembered('mailbox')) as { validity: number; uid: number } | undefined;
  if (kept?.validity === validity) return kept;
  const place = { validity, uid: Math.max(next - 1, 0) };
  await post.remember('mailbox', place);
  return place;
}

interface Listening {
  post: Post;
  reading: Reading;
  pollSeconds: number;
  up: () => void;
}

async function listenAt(open: Imap, { post, reading, pollSeconds, up }: Listening, signal: AbortSignal): Promise<void> {
  const onAbort = (): void => open.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    let { validity, uid } = await startAt(open, post);
    up();
    while (!signal.aborted) {
      uid = await readNew(open, post, reading, validity, uid);
      if (open.canIdle) await open.idle(IDLE_MS);
      else {
        await delay(pollSeconds * 1000, undefined, { signal });
        ({ validity } = await open.select());
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    open.close();
  }
}

const webhookOf = (path: string, reading: Reading): NonNullable<Service['webhook']> => ({
  path,
  async answer(inbox, request, response) {
    if (request.method !== 'POST') throw new AppError(405, 'Method not allowed');
    if (!/^message\/rfc822\b/i.test(request.headers['content-type'] ?? ''))
      throw new AppError(400, 'Content-Type must be message/rfc822');
    const raw = await readBody(request, MOST_MAIL_BYTES);
    if (raw.length === 0) throw new AppError(400, 'Invalid request body');
    await takeMail(inbox, raw, reading);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}');
  },
});

export function createEmail(deps: ChannelDeps): Service {
  const { settings, outbound, pool, owner, pollSeconds = 30, now = () => new Date() } = deps;
  const { address = '', user = address, password = '', imapHost, hook = emailSecret(address, password) } = settings;
  const login: Login = { user, password };
  const smtp = server(settings, 'smtp', 465, 587);
  const imap = server(settings, 'imap', 993, 143);
  const reading: Reading = { own: address, allowed: sendersIn(settings), now, pool, owner, failures: new Map() };

  async function post(letter: Pick<Letter, 'to' | 'subject' | 'text' | 'files'> & Partial<Letter>): Promise<void> {
    if (!isAddress(letter.to)) throw new Undeliverable('That is no mail address');
    const messageId = letter.messageId ?? answerId(sha256Hex(letter.text).slice(0, 32), now().toISOString(), address);
    const mail = composeMail({ ...letter, from: address, messageId, date: now() });
    await submit(outbound, smtp, login, { from: address, to: letter.to, mail });
  }

  return {
    kind: 'email',
    maxText: Infinity,
    isWhole: true,
    async test() {
      if (imapHost !== undefined) {
        const box = await Imap.open(outbound, imap, login);
        try {
          await box.select();
        } finally {
          await box.logout();
        }
      }
      await submit(outbound, smtp, login);
      return address;
    },
    tell: (to, text) => post({ to, subject: 'Test', text, files: [] }),
    async send({ id, extra = {} }, { index, text, files }) {
      const { to = '', subject = '', root = '', references = '' } = extra;
      await post({
        to,
        subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
        text,
        files,
        messageId: answerId(root, `${id} ${index}`, address),
        inReplyTo: id,
        references,
      });
    },
    fetchFile: () => Promise.reject(new Undeliverable('It came with the mail')),
    ...(imapHost !== undefined && {
      listen: async (inbox: Post, signal: AbortSignal, up: () => void) =>
        listenAt(await Imap.open(outbound, imap, login), { post: inbox, reading, pollSeconds, up }, signal),
    }),
    webhook: webhookOf(`/channels/email/${hook}`, reading),
  };
}
