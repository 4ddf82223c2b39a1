import { normalEmail, type Accounts } from '@troupe/accounts';
import type { Database, SystemTx } from '@troupe/db';
import { creditsOf, isPlan, type Plan } from '@troupe/domain';
import { AppError, type Clock, type User } from '@troupe/kernel';
import type { MailRoom } from '../../platform/mail.ts';
import { changeEmail, changeProfile, countReferrals, findMainAgent, hasSecondFactor, readProfile } from './store.ts';

interface Profile {
  id: string;
  email: string;
  emailVerified: boolean;
  name: string;
  plan: Plan | null;
  credits: number;
  twoFactorEnabled: boolean;
  notifications: Record<string, unknown>;
  instance: { id: string; url: string } | null;
}

interface Changes {
  name?: string;
  email?: string;
  notifications?: Record<string, unknown>;
}

interface SettingsDeps {
  db: Database;
  accounts: Accounts;
  mail: MailRoom;
  clock: Clock;
  agentsDomain: string;
}

function defineMail({ mail }: SettingsDeps): void {
  mail.define('email-changed', async ({ email }: { email: string }) => ({
    to: email,
    subject: 'Your e-mail address was changed',
    text: `Hello,\n\nyour account now has another e-mail address. If it was not you who changed it, tell an administrator at once.\n`,
  }));
}

function createReading({ db, accounts: { verification }, agentsDomain }: SettingsDeps) {
  async function get({ id }: User): Promise<Profile> {
    const own = db.user(id);
    const [row, agent, secondFactor] = await Promise.all([readProfile(own), findMainAgent(own), hasSecondFactor(own)]);
    // The account was deleted while its request was under way.
    if (!row) throw new AppError(401, 'Unauthorized');
    return {
      id,
      email: row.email,
      emailVerified: row.email_verified_at !== null || !verification.required,
      name: row.name,
      plan: isPlan(row.plan) ? row.plan : null,
      credits: creditsOf(row.credit_micros),
      twoFactorEnabled: secondFactor,
      notifications: row.notifications as Record<string, unknown>,
      instance: agent ? { id: agent.id, url: `https://${agent.id}.${agentsDomain}` } : null,
    };
  }

  return get;
}

export type SettingsService = ReturnType<typeof createSettings>;

export function createSettings(deps: SettingsDeps) {
  const { db, accounts, mail, clock } = deps;
  const { verification, confirmation, audit } = accounts;

  defineMail(deps);

  async function moveTo(tx: SystemTx, user: User, given: string, ip: string): Promise<void> {
    const email = normalEmail(given);
    const before = await changeEmail(tx, user.id, email, clock());
    if (before === 'taken') throw new AppError(409, 'Email already in use');
    if (before === null || before.email === email) return;
    // By mail to a new address the password can be reset: a key must not get that far.
    if (user.sessionId === null) throw new AppError(403, 'Sign in to change the e-mail address');
    await confirmation.requireOfCareful(tx, user);
    await verification.forget(tx, user.id);
    await audit(tx, { userId: user.id, action: 'email-change', detail: { from: before.email, to: email }, ip });
    await mail.post(tx, 'email-changed', { email: before.email, name: before.name });
    if (verification.required) await mail.post(tx, 'verify', { email });
  }

  const get = createReading(deps);

  return {
    get,
    async update(user: User, { name, email, notifications }: Changes, ip: string): Promise<Profile> {
      await db.asSystem(async (tx) => {
        if (email !== undefined) await moveTo(tx, user, email, ip);
        if (name !== undefined || notifications !== undefined)
          await changeProfile(tx, user.id, { name, notifications, updated_at: clock() });
      });
      return get(user);
    },
    async credits(
      user: User,
    ): Promise<{ credits: number; referralCode: string; referralCount: number; plan: Plan | null }> {
      const [row, referralCount] = await Promise.all([
        readProfile(db.user(user.id)),
        countReferrals(db.system, user.id),
      ]);
      if (!row) throw new AppError(401, 'Unauthorized');
      return {
        credits: creditsOf(row.credit_micros),
        referralCode: row.referral_code,
        referralCount,
        plan: isPlan(row.plan) ? row.plan : null,
      };
    },
  };
}
