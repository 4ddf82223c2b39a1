import { NOTICES, type Accounts } from '@troupe/accounts';
import type { Database, Listener } from '@troupe/db';
import type { Clock, Log } from '@troupe/kernel';
import type { MailRoom } from '../../mail.ts';

export interface NoticeMailDeps {
  db: Database;
  clock: Clock;
  listener: Listener;
  mail: MailRoom;
  accounts: Pick<Accounts, 'verification'>;
  baseUrl: string;
  log: Log;
}

const KIND = 'notice';
/** What a process did not hear, because its listening connection was away. */
const LOOK_MS = 60_000;
const BATCH = 100;
/** Accounts that came by wallet have no letterbox. */
const NO_LETTERBOX = '@wallet.svc';

/** Mails about notices, unless their owner has switched that kind off in the settings. Each is looked at once. */
export function mailNotices({ db, clock, listener, mail, accounts, baseUrl, log }: NoticeMailDeps): {
  close: () => Promise<void>;
} {
  mail.define(KIND, async ({ email, noticeId }: { email: string; noticeId: string }) => {
    const notice = await db.system
      .selectFrom('notices')
      .innerJoin('users', 'users.id', 'notices.user_id')
      .select(['notices.message', 'notices.link', 'notices.read_at', 'users.name'])
      .where('notices.id', '=', BigInt(noticeId))
      .executeTakeFirst();
    if (!notice || notice.read_at) return null;
    const link = `${baseUrl}${notice.link ?? '/dashboard'}`;
    return {
      to: email,
      subject: notice.message.slice(0, 150).replaceAll(/\s+/g, ' '),
      text: `Hello ${notice.name},\n\n${notice.message}\n\n${link}\n\nYou choose what is sent to you here: ${baseUrl}/dashboard/settings?tab=notifications\n`,
      link,
    };
  });

  const postNext = () =>
    db.asSystem(async (tx) => {
      const waiting = await tx
        .selectFrom('notices')
        .innerJoin('users', 'users.id', 'notices.user_id')
        .select(['notices.id', 'notices.kind', 'users.email', 'users.email_verified_at', 'users.notifications'])
        .where('notices.mailed_at', 'is', null)
        .orderBy('notices.id')
        .limit(BATCH)
        .forUpdate('notices')
        .skipLocked()
        .execute();
      for (const { id, kind, email, email_verified_at: verified, notifications } of waiting) {
        const wanted = (notifications as Record<string, unknown>)[kind] !== false;
        const known = verified !== null || !accounts.verification.required;
        if (wanted && known && !email.endsWith(NO_LETTERBOX))
          await mail.post(tx, KIND, { email, noticeId: String(id) });
      }
      const ids = waiting.map(({ id }) => id);
      if (ids.length > 0) await tx.updateTable('notices').set({ mailed_at: clock() }).where('id', 'in', ids).execute();
      return waiting.length;
    });

  let running: Promise<void> | undefined;
  let again = false;
  async function run(): Promise<void> {
    do {
      again = false;
      while ((await postNext()) === BATCH);
    } while (again);
  }
  const look = (): void => {
    again = true;
    running ??= run()
      .catch((err: unknown) => log.error({ err }, 'mails about notices not posted; tried again'))
      .finally(() => {
        running = undefined;
      });
  };
  const stop = listener.on(NOTICES, look);
  const timer = setInterval(look, LOOK_MS).unref();
  look();
  return {
    async close() {
      stop();
      clearInterval(timer);
      await running;
    },
  };
}
