import { normalEmail, type Accounts, type UserRow } from '@troupe/accounts';
import { OTHER_ACCOUNT } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, type User } from '@troupe/kernel';
import type { BotFields, Bots } from '../bots.ts';
import type { MailRoom } from '../../platform/mail.ts';
import type { Invites } from '../invites/service.ts';
import type { Joining } from '../joining/service.ts';
import { findGiver, linkUser } from './store.ts';

interface NewAccount extends BotFields {
  email: string;
  password: string;
  name?: string;
  referralCode?: string;
  inviteToken?: string;
}

interface RegistrationDeps {
  db: Database;
  accounts: Accounts;
  invites: Invites;
  joining: Joining;
  bots: Bots;
  mail: MailRoom;
  /** Public address of web. */
  baseUrl: string;
}

const exists = () => new AppError(409, 'User already exists');

function defineMail({ db, accounts, mail, baseUrl }: RegistrationDeps): void {
  const { users, verification } = accounts;
  mail.define('verify', async ({ email }: { email: string }) =>
    db.asSystem(async (tx) => {
      const user = await users.byEmail(tx, email);
      if (!user || user.email_verified_at !== null || !verification.required) return null;
      const link = `${baseUrl}/verify-email?token=${await verification.startVerify(tx, user)}`;
      return {
        to: user.email,
        subject: 'Verify your e-mail address',
        text: `Hello,\n\nopen this link within 24 hours to verify your address:\n\n${link}\n\nIf you did not ask for it, ignore this mail.\n`,
        link,
      };
    }),
  );
}

export type Registration = ReturnType<typeof createRegistration>;

export function createRegistration(deps: RegistrationDeps) {
  const { db, accounts, invites, joining, bots, mail } = deps;
  const { users, credits, verification, passwords, prove, audit } = accounts;

  async function takeOrigin(tx: SystemTx, user: UserRow, { inviteToken, referralCode }: NewAccount): Promise<void> {
    if (inviteToken !== undefined) {
      const invite = await invites.consume(tx, inviteToken, user.id);
      const subscriptionStatus = invite.byAdmin ? 'active' : 'inactive';
      const by = { actorId: invite.userId, reason: 'invite' };
      await users.changePlan(tx, user.id, { plan: 'solo', subscriptionStatus }, by);
      if (!invite.byAdmin) await credits.refer(tx, user.id, invite.userId);
    }
    const giver = referralCode ? await findGiver(tx, referralCode) : null;
    if (giver) await credits.refer(tx, user.id, giver);
  }

  defineMail(deps);

  return {
    async register(account: NewAccount, ip: string): Promise<{ id: string; email: string; name: string }> {
      await bots.check(account);
      await joining.admit(db.system, { invited: account.inviteToken !== undefined });
      // Only to spare the hash: the insert below is what decides.
      if (await users.byEmail(db.system, account.email)) throw exists();
      const passwordHash = await passwords.hash(account.password, ip);
      return db.asSystem(async (tx) => {
        const user = await users.create(tx, { email: account.email, name: account.name, passwordHash });
        if (!user) throw exists();
        await audit(tx, { userId: user.id, action: 'register', ip });
        await takeOrigin(tx, user, account);
        await joining.begin(tx, user);
        if (verification.required) await mail.post(tx, 'verify', { email: user.email });
        else await credits.settle(tx, user.id);
        return { id: user.id, email: user.email, name: user.name };
      });
    },
    /** `user`: who is signed in where the link was opened. */
    async verify(
      { token, password }: { token: string; password?: string | undefined },
      user: User | null,
      ip: string,
    ): Promise<void> {
      const badLink = () => new AppError(400, 'Invalid or expired verification link');
      // Before anything is hashed or spent; taking the token below is what decides.
      const about = await linkUser(db.system, token);
      if (about === null) throw badLink();
      // Their own things would go, and they would not know it.
      if (user && user.id !== about && password === undefined) throw new AppError(409, OTHER_ACCOUNT);
      const passwordHash = password === undefined ? undefined : await passwords.hash(password, ip);
      const userId = await db.asSystem(async (tx) => {
        const proven = await verification.finishVerify(tx, token);
        if (proven) await prove(tx, { userId: proven, by: 'mail link', passwordHash, sessionId: user?.sessionId, ip });
        return proven;
      });
      if (!userId) throw badLink();
    },
    resend: (email: string): Promise<void> => mail.postIfKnown('verify', normalEmail(email)),
  };
}
