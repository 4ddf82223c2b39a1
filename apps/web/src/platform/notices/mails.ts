import type { Accounts } from '@troupe/accounts';
import { noticeRaised } from '@troupe/contract';
import { lookWhenTold, type Database, type Listener } from '@troupe/db';
import type { Clock, Counters, Log } from '@troupe/kernel';
import type { MailRoom } from '../mail.ts';
import * as store from './store.ts';

export interface NoticeMailDeps {
  db: Database;
  clock: Clock;
  counters: Counters;
  listener: Listener;
  mail: MailRoom;
  accounts: Pick<Accounts, 'verification'>;
  baseUrl: string;
  log: Log;
}

const KIND = 'notice';
const BATCH = 100;
const HOUR_MS = 3_600_000;
/** Somebody whose thousand tasks fail gets a few mails about it, not a thousand. */
const MAILS_AN_HOUR = 5;
/** So many notices are named in one mail. */
const LISTED = 20;
/** Accounts that came by wallet have no letterbox. */
const NO_LETTERBOX = '@wallet.svc';

interface Told {
  email: string;
  noticeIds?: string[];
  /** How many they are with those that are not named. */
  count?: number;
  /** In mails that an earlier release left waiting. */
  noticeId?: string;
}

const mailsOf = (userId: string): string => `notice-mails:${userId}`;

async function compose(db: Database, { email, noticeId, noticeIds, count = 1 }: Told, baseUrl: string) {
  const ids = (noticeIds ?? (noticeId === undefined ? [] : [noticeId])).map(BigInt);
  const notices = await store.toldNotices(db.system, ids);
  const [first] = notices;
  if (!first) return null;
  const more = count - ids.length;
  const all = notices.length + more;
  const link = `${baseUrl}${all === 1 ? (first.link ?? '/dashboard') : '/dashboard'}`;
  const messages = notices.map(({ message }) => (all === 1 ? message : `- ${message}`)).join('\n');
  const rest = more > 0 ? `\n- and ${more} more` : '';
  return {
    to: email,
    subject: all === 1 ? first.message.slice(0, 150).replaceAll(/\s+/g, ' ') : `${all} things need your attention`,
    text: `Hello ${first.name},\n\n${messages}${rest}\n\n${link}\n\nYou choose what is sent to you here: ${baseUrl}/dashboard/settings?tab=notifications\n`,
    link,
  };
}

/** Makes mails of the notices that wait. */
function createPosting({ db, clock, counters, mail, accounts }: NoticeMailDeps) {
  /** All that waits for one user is one mail, and a user gets only so many in an hour: the rest is told in the next. */
  const postFor = async (userId: string): Promise<void> => {
    const { count } = (await counters.peek(mailsOf(userId))) ?? { count: 0 };
    if (count >= MAILS_AN_HOUR) return;
    const posted = await db.asSystem(async (tx) => {
      const user = await store.letterboxOf(tx, userId);
      const taken = await store.takeUnmailed(tx, userId, clock());
      if (!user) return false;
      const { email, email_verified_at: verified, notifications } = user;
      const known = verified !== null || !accounts.verification.required;
      if (!known || email.endsWith(NO_LETTERBOX)) return false;
      const wanted = taken.filter(({ kind }) => (notifications as Record<string, unknown>)[kind] !== false);
      if (wanted.length === 0) return false;
      const noticeIds = wanted.slice(0, LISTED).map(({ id }) => String(id));
      await mail.post(tx, KIND, { email, noticeIds, count: wanted.length }, userId);
      return true;
    });
    if (posted) await counters.hit(mailsOf(userId), HOUR_MS);
  };

  /** Each user once. */
  const postAll = async (): Promise<void> => {
    for (let last = ''; ;) {
      const users = await store.unmailedUsers(db.system, last, BATCH);
      for (const userId of users) await postFor(userId);
      if (users.length < BATCH) return;
      last = users.at(-1)!;
    }
  };

  return postAll;
}

/** Mails about notices, unless their owner has switched that kind off in the settings. Each is looked at once. */
export function mailNotices(deps: NoticeMailDeps): { close: () => Promise<void> } {
  const { db, listener, mail, baseUrl, log } = deps;
  mail.define(KIND, (told: Told) => compose(db, told, baseUrl), 'news');

  return lookWhenTold({
    listener,
    signal: noticeRaised,
    work: createPosting(deps),
    failed: (err) => log.error({ err }, 'mails about notices not posted; tried again'),
  });
}
