import type { Accounts, UserRow } from '@troupe/accounts';
import { NOT_JOINING, planEndsJob, type JoiningMode, type JoiningRules } from '@troupe/contract';
import type { Database, Jobs, SystemTx } from '@troupe/db';
import { AppError, type Clock } from '@troupe/kernel';
import type { MailRoom } from '../../platform/mail.ts';
import { holdPlanEnd, readRules, saveRules } from './store.ts';

interface JoiningDeps {
  db: Database;
  accounts: Accounts;
  jobs: Jobs;
  mail: MailRoom;
  clock: Clock;
  /** Public address of web. */
  baseUrl: string;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const MAIL = 'plan-ended';
/** As it is until an administrator says otherwise. */
const AT_FIRST: JoiningRules = { mode: 'open', plan: null, days: null };

export type Joining = ReturnType<typeof createJoining>;

/** Who may make an account here, and what it begins with. */
export function createJoining(deps: JoiningDeps) {
  const { db, accounts, jobs, clock } = deps;

  async function rules(tx: SystemTx): Promise<JoiningRules> {
    const row = await readRules(tx);
    return row ? { mode: row.mode, plan: row.plan, days: row.days } : AT_FIRST;
  }

  workOnEnds(deps);

  return {
    mode: async (): Promise<{ mode: JoiningMode }> => ({ mode: (await rules(db.system)).mode }),
    read: () => rules(db.system),
    async change({ actorId, ip }: { actorId: string; ip: string }, given: JoiningRules): Promise<JoiningRules> {
      await db.asSystem(async (tx) => {
        await saveRules(tx, given, clock());
        await accounts.audit(tx, { userId: actorId, actorId, action: 'joining-changed', detail: { ...given }, ip });
      });
      return given;
    },
    /** Throws 403 when nobody new is let in this way. */
    async admit(tx: SystemTx, { invited }: { invited: boolean }): Promise<void> {
      const { mode } = await rules(tx);
      if (mode === 'closed' || (mode === 'invite' && !invited)) throw new AppError(403, NOT_JOINING[mode]);
    },
    /** What a new account has from the beginning, unless an invitation has brought more. */
    async begin(tx: SystemTx, user: Pick<UserRow, 'id'>): Promise<void> {
      const { plan, days } = await rules(tx);
      const now = await accounts.users.byId(tx, user.id);
      if (plan === null || now?.subscription_status === 'active') return;
      const endsAt = days === null ? undefined : new Date(clock().getTime() + days * DAY_MS);
      await accounts.users.changePlan(
        tx,
        user.id,
        { plan, subscriptionStatus: 'active', endsAt },
        { reason: 'joining' },
      );
      if (endsAt) await jobs.send(tx, planEndsJob, { userId: user.id }, { startAfter: endsAt, owner: user.id });
    },
  };
}

const later = (at: Date, now: Date): Date => new Date(Math.max(at.getTime(), now.getTime() + MINUTE_MS));

/** What was given for some days ends with them, unless somebody has changed it meanwhile. */
function workOnEnds({ db, accounts, jobs, mail, clock, baseUrl }: JoiningDeps): void {
  mail.define(
    MAIL,
    async ({ email }: { email: string }) => ({
      to: email,
      subject: 'Your plan has ended',
      text: `Hello,\n\nyour plan was given for some days, and these are over. Your agents and conversations are kept. How to go on:\n\n${baseUrl}/dashboard\n`,
      link: `${baseUrl}/dashboard`,
    }),
    'news',
  );
  jobs.work(planEndsJob, async ({ userId }) => {
    await db.asSystem(async (tx) => {
      const endsAt = await holdPlanEnd(tx, userId);
      if (endsAt === null) return;
      // The clocks of two machines differ.
      if (endsAt > clock()) {
        await jobs.send(tx, planEndsJob, { userId }, { startAfter: later(endsAt, clock()), owner: userId });
        return;
      }
      const user = await accounts.users.changePlan(
        tx,
        userId,
        { subscriptionStatus: 'inactive' },
        { reason: 'days over' },
      );
      if (user && !user.email.endsWith('@wallet.svc')) await mail.post(tx, MAIL, { email: user.email });
    });
  });
}
