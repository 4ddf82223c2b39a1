import { normalEmail, type Accounts, type UserRow } from '@troupe/accounts';
import type { Database, SystemTx } from '@troupe/db';
import { AppError } from '@troupe/kernel';
import type { BotFields, Bots } from '../../bots.ts';
import type { MailRoom } from '../../mail.ts';
import type { Invites } from '../invites/service.ts';
import { findGiver } from './store.ts';

interface NewAccount extends BotFields {
  email: string;
  password: string;
  name?: string;
  referralCode?: string;
  inviteToken?: string;
}

export interface Registration {
  register: (account: NewAccount, ip: string) => Promise<{ id: string; email: string; name: string }>;
  verify: (token: string) => Promise<void>;
  resend: (email: string) => Promise<void>;
}

interface RegistrationDeps {
  db: Database;
  accounts: Accounts;
  invites: Invites;
  bots: Bots;
  mail: MailRoom;
  /** Public address of web. */
  baseUrl: string;
}

const exists = () => new AppError(409, 'User already exists');

export function createRegistration({ db, accounts, invites, bots, mail, baseUrl }: RegistrationDeps): Registration {
  const { users, credits, verification, passwords, audit } = accounts;

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

  mail.define('verify', async ({ email }: { email: string }) =>
    db.asSystem(async (tx) => {
      const user = await users.byEmail(tx, email);
      if (!user || user.email_verified_at !== null || !verification.required) return null;
      const link = `${baseUrl}/verify-email?token=${await verification.startVerify(tx, user)}`;
      return {
        to: user.email,
        subject: 'Verify your e-mail address',
        text: `Hello ${user.name},\n\nopen this link within 24 hours to verify your address:\n\n${link}\n\nIf you did not ask for it, ignore this mail.\n`,
        link,
      };
    }),
  );

  return {
    async register(account, ip) {
      await bots.check(account);
      // Only to spare the hash: the insert below is what decides.
      if (await users.byEmail(db.system, account.email)) throw exists();
      const passwordHash = await passwords.hash(account.password);
      return db.asSystem(async (tx) => {
        const user = await users.create(tx, { email: account.email, name: account.name, passwordHash });
        if (!user) throw exists();
        await audit(tx, { userId: user.id, action: 'register', ip });
        await takeOrigin(tx, user, account);
        if (verification.required) await mail.post(tx, 'verify', { email: user.email });
        else await credits.settle(tx, user.id);
        return { id: user.id, email: user.email, name: user.name };
      });
    },
    async verify(token) {
      const userId = await db.asSystem(async (tx) => {
        const verified = await verification.finishVerify(tx, token);
        if (verified) await audit(tx, { userId: verified, action: 'email-verified' });
        return verified;
      });
      if (!userId) throw new AppError(400, 'Invalid or expired verification link');
    },
    // The same work for an address that nobody has: who it is for is looked up when the mail is sent.
    resend: (email) => db.asSystem((tx) => mail.post(tx, 'verify', { email: normalEmail(email) })),
  };
}
