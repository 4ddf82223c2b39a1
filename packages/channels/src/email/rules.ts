import { sha256Hex } from '@troupe/kernel';
import type { Mail } from './mime.ts';

/** Who may write to an agent by mail, which mails nobody answers, and what belongs together. */

const headerOf = ({ headers }: Mail, name: string): string => headers.get(name) ?? '';

/** Entries are addresses, `@domain`, or `*` for everybody. */
function mayWrite(address: string, allowed: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf('@'));
  return allowed.map((one) => one.toLowerCase()).some((one) => one === '*' || one === address || one === domain);
}

const ROBOTS = /^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?|notifications?)(?:[+\-.].*)?@/;

/** Why nobody answers such a mail: it was written by a program, and the answer might be answered by one. */
function isAutomatic(mail: Mail): string | undefined {
  const header = (name: string) => headerOf(mail, name);
  const submitted = header('auto-submitted').toLowerCase();
  if (submitted !== '' && submitted !== 'no') return 'Sent by a program (Auto-Submitted)';
  if (/^(?:bulk|junk|list|auto_reply)\b/i.test(header('precedence'))) return 'Sent in bulk (Precedence)';
  if (header('list-id') !== '' || header('list-unsubscribe') !== '') return 'Sent by a mailing list';
  if (header('x-autoreply') !== '' || header('x-autorespond') !== '') return 'Sent by a program';
  if (header('return-path').replaceAll(' ', '') === '<>') return 'A report of a mail server';
  return ROBOTS.test(mail.from) ? 'Sent by a program' : undefined;
}

/** The owner's own mail server says that the sender is not who he says he is. */
const isForged = (mail: Mail): boolean => /\bdmarc\s*=\s*fail\b/i.test(headerOf(mail, 'authentication-results'));

/** Undefined: it is answered. */
export function whyIgnored(mail: Mail, own: string, allowed: readonly string[]): string | undefined {
  if (mail.from === '') return 'It has no sender';
  if (mail.from === own.toLowerCase()) return 'It is from the agent’s own address';
  const automatic = isAutomatic(mail);
  if (automatic !== undefined) return automatic;
  if (!mayWrite(mail.from, allowed)) return 'Not among those who may write';
  return isForged(mail) ? 'Its sender could not be proven (DMARC)' : undefined;
}

const IDS = /<[^<>\s]{1,250}>/g;
const idsIn = (text: string): string[] => text.slice(0, 20_000).match(IDS) ?? [];
const short = (text: string, length = 32): string => sha256Hex(text).slice(0, length);
const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1);

export interface Thread {
  /** The mail's own id; made up where it has none. */
  id: string;
  /** Of the conversation: what began it, and with whom. */
  chat: string;
  /** Of what began it. */
  root: string;
  /** What an answer refers to. */
  references: string;
}

/** An answer of ours carries the root, so that programs that keep the last id alone are understood too. */
export function threadOf(mail: Mail, own: string): Thread {
  const id =
    idsIn(headerOf(mail, 'message-id'))[0] ?? `<${short(headerOf(mail, 'date') + mail.subject + mail.text)}@nowhere>`;
  const before = [...idsIn(headerOf(mail, 'references')), ...idsIn(headerOf(mail, 'in-reply-to'))];
  const ours = before.map((one) => /^<t\.([0-9a-f]{32})\.[0-9a-f]{16}@(.+)>$/.exec(one));
  const known = ours.find((found) => found?.[2] === domainOf(own))?.[1];
  const root = known ?? short(before[0] ?? id);
  const kept = [...new Set(before)];
  const references = [...kept.slice(0, 1), ...kept.slice(1).slice(-15), id].join(' ');
  return { id, root, chat: short(`${mail.from} ${root}`), references };
}

/** The same for each try, so that a mail that is sent twice is shown once. */
export const answerId = (root: string, messageId: string, own: string): string =>
  `<t.${root}.${short(`answer ${messageId}`, 16)}@${domainOf(own)}>`;
