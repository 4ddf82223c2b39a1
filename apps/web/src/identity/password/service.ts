import { normalEmail, type Accounts } from '@troupe/accounts';
import type { Database } from '@troupe/db';
import { AppError, type Cookie, type User } from '@troupe/kernel';
import type { Attempts } from '../attempts.ts';
import type { BotFields, Bots } from '../bots.ts';
import type { Guesses } from '../guesses.ts';
import type { KnownDevices } from '../known-devices.ts';
import type { MailRoom } from '../../platform/mail.ts';
import { isResetOpen, lockPassword, setPassword } from './store.ts';

interface PasswordDeps {
  db: Database;
  accounts: Accounts;
  attempts: Attempts;
  guesses: Guesses;
  devices: KnownDevices;
  bots: Bots;
  mail: MailRoom;
  /** Public address of web. */
  baseUrl: string;
}

function defineMail({ db, accounts, mail, baseUrl }: PasswordDeps): void {
  const { users, verification } = accounts;
  mail.define('reset', async ({ email }: { email: string }) =>
    db.asSystem(async (tx) => {
      const user = await users.byEmail(tx, email);
      if (!user) return null;
      const link = `${baseUrl}/reset-password?token=${await verification.startReset(tx, user.id)}`;
      return {
        to: user.email,
        subject: 'Set a new password',
        text: `Hello,\n\nopen this link within an hour to set a new password:\n\n${link}\n\nIf you did not ask for it, ignore this mail: your password stays as it is.\n`,
        link,
      };
    }),
  );
}

export type PasswordService = ReturnType<typeof createPasswordService>;

export function createPasswordService(deps: PasswordDeps) {
  const { db, accounts, attempts, guesses, devices, bots, mail } = deps;
  const { users, sessions, passwords, verification, prove, audit } = accounts;
  const badLink = () => new AppError(400, 'Invalid or expired reset link');
  const wrong = () => new AppError(401, 'Current password is incorrect');

  defineMail(deps);

  return {
    async forgot({ email, ...fields }: { email: string } & BotFields): Promise<void> {
      await bots.check(fields);
      await mail.postIfKnown('reset', normalEmail(email));
    },
    /** The device is known from now on: nobody who guesses keeps whoever reads the mail out. */
    async reset(token: string, password: string, ip: string): Promise<Cookie> {
      // Only to spare the hash for made-up tokens: taking the token below is what decides.
      if (!(await isResetOpen(db.system, token))) throw badLink();
      const hash = await passwords.hash(password, ip);
      return db.asSystem(async (tx) => {
        const userId = await verification.finishReset(tx, token);
        if (!userId) throw badLink();
        await setPassword(tx, userId, hash);
        await sessions.endAll(tx, userId);
        await verification.forget(tx, userId);
        // Whoever has the link reads the mail of that address.
        await prove(tx, { userId, by: 'password reset', passwordHash: hash, ip });
        await audit(tx, { userId, action: 'password-reset', ip });
        const user = await users.byId(tx, userId);
        if (user) await guesses.forget(tx, user.email);
        return devices.cookie({ userId, passwordHash: hash });
      });
    },
    async change(
      user: User,
      { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
      ip: string,
    ): Promise<Cookie> {
      const stored = (await users.byEmail(db.system, user.email))?.password_hash ?? null;
      const matches = await attempts.guard(`password:${user.id}`, () =>
        passwords.verify(stored, currentPassword, user.id),
      );
      if (!matches) throw wrong();
      const hash = await passwords.hash(newPassword, user.id);
      await db.asSystem(async (tx) => {
        // Somebody else changed it in between: what was checked is no longer the current one.
        if ((await lockPassword(tx, user.id)) !== stored) throw wrong();
        await setPassword(tx, user.id, hash);
        await sessions.endAll(tx, user.id, user.sessionId);
        await verification.forget(tx, user.id);
        await audit(tx, { userId: user.id, action: 'password-change', ip });
      });
      return devices.cookie({ userId: user.id, passwordHash: hash });
    },
  };
}
