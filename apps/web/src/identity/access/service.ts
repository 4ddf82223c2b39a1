import { raiseNotice, settleNotice, type Accounts } from '@troupe/accounts';
import type { Access, AccessRequest, web, TypesOf } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { isPlan } from '@troupe/domain';
import { AppError, iso, isoOrNull, type Clock, type User } from '@troupe/kernel';
import type { MailRoom } from '../../platform/mail.ts';
import {
  administrators,
  changeNote,
  countWaiting,
  listWaiting,
  readPlanEnd,
  readRequest,
  saveRequest,
  settleRequest,
} from './store.ts';

interface AccessDeps {
  db: Database;
  accounts: Accounts;
  mail: MailRoom;
  clock: Clock;
  /** Public address of web. */
  baseUrl: string;
  /** Plans can be bought. */
  sold: boolean;
}

export type AccessService = ReturnType<typeof createAccess>;

const NOTICE = 'access_asked';
const MAIL = 'access';
const DAY_MS = 86_400_000;

interface Told {
  email: string;
  userId: string;
}

/** What administrators do with the requests. */
function administration({ db, accounts, mail, clock }: AccessDeps) {
  return {
    async waiting(page: { limit: number; offset: number }): Promise<{ requests: AccessRequest[]; total: number }> {
      const [rows, total] = await Promise.all([listWaiting(db.system, page), countWaiting(db.system)]);
      const requests = rows.map(({ id, name, email, email_verified_at: verified, note, asked_at: at }) => ({
        id,
        name,
        email,
        emailVerified: verified !== null,
        note,
        askedAt: iso(at),
      }));
      return { requests, total };
    },

    async decide(
      { actorId, ip }: { actorId: string; ip: string },
      userId: string,
      decision: TypesOf<typeof web.access.decide>['body'],
    ) {
      const isGrant = 'grant' in decision;
      await db.asSystem(async (tx) => {
        const now = clock();
        const answer = isGrant ? '' : decision.answer;
        const settled = { state: isGrant ? ('granted' as const) : ('refused' as const), answer, by: actorId };
        if (!(await settleRequest(tx, userId, settled, now))) throw new AppError(404, 'Nobody waits under this id');
        if (isGrant) {
          const change = { plan: decision.grant, subscriptionStatus: 'active' as const };
          await accounts.users.changePlan(tx, userId, change, { actorId, reason: 'access', ip });
        } else await accounts.audit(tx, { userId, actorId, action: 'access-refused', detail: { answer }, ip });
        await settleNotice(tx, { kind: NOTICE, subject: userId }, now);
        const user = await accounts.users.byId(tx, userId);
        if (user && !user.email.endsWith('@wallet.svc')) await mail.post(tx, MAIL, { email: user.email, userId });
      });
      return { success: true as const };
    },
  };
}

function defineMail({ db, mail, baseUrl }: AccessDeps): void {
  mail.define(
    MAIL,
    async ({ email, userId }: Told) => {
      const row = await readRequest(db.system, userId);
      if (!row || row.state === 'asked') return null;
      const isGranted = row.state === 'granted';
      const link = `${baseUrl}/dashboard`;
      return {
        to: email,
        subject: isGranted ? 'You have access' : 'Your request for access',
        text: isGranted
          ? `Hello,\n\nyou can make agents now:\n\n${link}\n`
          : `Hello,\n\nyour request for access was refused.${row.answer ? `\n\n${row.answer}` : ''}\n`,
        link,
      };
    },
    'news',
  );
}

/** Asking for a plan where nothing is sold, and the administrators' answer. */
export function createAccess(deps: AccessDeps) {
  const { db, accounts, clock, sold } = deps;
  const isMember = (user: User): boolean => {
    const { isAdmin, isTester, subscriptionStatus, plan } = accounts.subscriber(user);
    return isAdmin || isTester === true || (subscriptionStatus === 'active' && plan !== null);
  };

  async function read(user: User): Promise<Access> {
    const [row, end] = await Promise.all([readRequest(db.user(user.id), user.id), readPlanEnd(db.system, user.id)]);
    const open = row?.state === 'granted' ? undefined : row?.state;
    return {
      state: isMember(user) ? 'member' : (open ?? 'none'),
      plan: isPlan(user.plan) ? user.plan : null,
      endsAt: isoOrNull(end?.plan_ends_at ?? null),
      sold,
      askedAt: isoOrNull(row?.asked_at ?? null),
      note: row?.note ?? '',
      answer: row?.answer ?? '',
    };
  }

  async function tellAdministrators(tx: SystemTx, user: User): Promise<void> {
    for (const { id } of await administrators(tx))
      await raiseNotice(
        tx,
        {
          userId: id,
          kind: NOTICE,
          subject: user.id,
          // It goes by mail: whoever registers chooses the name, and would word it.
          message: `${user.email} asks for access.`,
          link: '/dashboard/inbox',
        },
        clock(),
      );
  }

  defineMail(deps);

  return {
    offers: () => ({ sold: deps.sold }),
    read,

    async ask(user: User, note: string): Promise<Access> {
      if (isMember(user)) throw new AppError(409, 'You have a plan already');
      await db.asSystem(async (tx) => {
        const now = clock();
        const row = await readRequest(tx, user.id);
        if (row?.state === 'asked') return void (await changeNote(tx, user.id, note));
        if (row?.state === 'refused' && now.getTime() - (row.decided_at?.getTime() ?? 0) < DAY_MS)
          throw new AppError(429, 'Ask again a day after the refusal');
        await saveRequest(tx, user.id, note, now);
        await tellAdministrators(tx, user);
      });
      return read(user);
    },

    ...administration(deps),
  };
}
