import type { Accounts, UserRow } from '@troupe/accounts';
import { SECURITY_EVENTS as EVENTS, securityEventsJob } from '@troupe/contract';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import type { Clock, Log } from '@troupe/kernel';
import type { MailRoom } from '../../platform/mail.ts';
import { addEvent, markProcessed, nextEvent, oldestWaiting, setDisabled, type StoredEvent } from './store.ts';
import type { SecurityToken } from './token.ts';

interface RiscDeps {
  db: Database;
  accounts: Accounts;
  jobs: Jobs;
  mail: MailRoom;
  readToken: (given: string) => Promise<SecurityToken>;
  baseUrl: string;
  clock: Clock;
  log: Log;
}

interface EventData {
  sub?: string;
  email?: string;
  reason?: string;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function dataOf(value: unknown): EventData {
  const { subject, reason } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const { sub, email } = (typeof subject === 'object' && subject !== null ? subject : {}) as Record<string, unknown>;
  return { sub: textOf(sub), email: textOf(email), reason: textOf(reason) };
}

function defineMail({ db, accounts, mail, baseUrl }: RiscDeps): void {
  const { users } = accounts;
  mail.define('credential-change', async ({ email }: { email: string }) => {
    const user = await users.byEmail(db.system, email);
    if (!user) return null;
    return {
      to: user.email,
      subject: 'Please check your account',
      text: `Hello,\n\nyour identity provider tells us that the password of your account there should be changed. If you use the same one here, change it, too, and look at where you are signed in:\n\n${baseUrl}/dashboard/settings\n`,
      link: `${baseUrl}/dashboard/settings`,
    };
  });
}

/** What each event does to an account. */
function createActing(deps: RiscDeps) {
  const { accounts, mail, clock, log } = deps;
  const { users, links, sessions, audit } = accounts;
  type Action = (tx: SystemTx, user: UserRow, data: EventData) => Promise<void>;
  const ACTIONS: Readonly<Record<string, Action>> = {
    async [EVENTS.accountDisabled](tx, { id }, { reason }) {
      if (reason === 'hijacking') await setDisabled(tx, id, clock());
      await sessions.endAll(tx, id);
    },
    [EVENTS.accountEnabled]: (tx, { id }) => setDisabled(tx, id, null),
    [EVENTS.sessionsRevoked]: (tx, { id }) => sessions.endAll(tx, id),
    async [EVENTS.tokensRevoked](tx, { id }) {
      await links.dropTokens(tx, id, 'idp2');
      await sessions.endAll(tx, id);
    },
    [EVENTS.credentialChange]: (tx, { email }) => mail.post(tx, 'credential-change', { email }),
  };

  defineMail(deps);

  async function userOf(tx: SystemTx, { sub, email }: EventData, byEmailOnly: boolean): Promise<UserRow | null> {
    const link = sub !== undefined && !byEmailOnly ? await links.find(tx, 'idp2', sub) : null;
    if (link) return users.byId(tx, link.userId);
    return email === undefined ? null : users.byEmail(tx, email);
  }

  async function act(tx: SystemTx, { jti, events, byEmailOnly }: StoredEvent): Promise<void> {
    for (const [type, value] of Object.entries(events)) {
      const action = ACTIONS[type];
      const data = dataOf(value);
      const user = action ? await userOf(tx, data, byEmailOnly) : null;
      log.info({ jti, type, reason: data.reason, userId: user?.id }, 'security event');
      if (!action || !user) continue;
      await action(tx, user, data);
      await audit(tx, { userId: user.id, action: 'security-event', detail: { type, reason: data.reason } });
    }
  }

  return act;
}

export type Risc = ReturnType<typeof createRisc>;

export function createRisc(deps: RiscDeps) {
  const { db, jobs, readToken, baseUrl, clock, log } = deps;
  const act = createActing(deps);

  /** In the order they came: the enabling of an account must not be overtaken by its disabling. */
  async function work(): Promise<void> {
    let left = true;
    while (left)
      left = await db.asSystem(async (tx) => {
        const event = await nextEvent(tx);
        if (!event) return false;
        await act(tx, event);
        await markProcessed(tx, event.jti, clock());
        return true;
      });
  }
  jobs.work(securityEventsJob, work, { concurrency: 1 });

  return {
    health: (): { status: 'ok'; endpoint: string; description: string; events_supported: string[] } => ({
      status: 'ok',
      endpoint: `${baseUrl}/api/security/risc`,
      description: 'Receiver of security event tokens (RISC) of the identity provider',
      events_supported: Object.values(EVENTS),
    }),
    /** Stores the event and what has to be done about it; a repeated one changes nothing. */
    async receive(given: string, { byEmailOnly }: { byEmailOnly: boolean } = { byEmailOnly: false }): Promise<void> {
      const token = await readToken(given);
      await db.asSystem(async (tx) => {
        if (await addEvent(tx, token, byEmailOnly, clock())) await jobs.send(tx, securityEventsJob, { jti: token.jti });
      });
    },
    /** Takes up what a process that died has left, without waiting for its job to be missed. */
    async resume(): Promise<void> {
      try {
        const jti = await oldestWaiting(db.system);
        if (jti !== null) await db.asSystem((tx) => jobs.send(tx, securityEventsJob, { jti }));
      } catch (err) {
        // Their own jobs run again, only later.
        log.error({ err }, 'security events that wait could not be taken up');
      }
    },
  };
}
