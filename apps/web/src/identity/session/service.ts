import { normalEmail, type Accounts, type Entry, type Origin } from '@troupe/accounts';
import { isEmail } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError, countedAddress, csrfToken, iso, type Clock, type Cookie, type User } from '@troupe/kernel';
import type { Attempts } from '../attempts.ts';
import type { FailedSignIns } from '../failed-sign-ins.ts';
import type { Guesses } from '../guesses.ts';
import type { KnownDevices } from '../known-devices.ts';
import { deleteSession, holdsPassword, listSessions } from './store.ts';

interface SessionItem {
  id: string;
  device: string;
  ip: string;
  createdAt: string;
  lastSeen: string;
  expiresAt: string;
  current: boolean;
}

interface SessionDeps {
  db: Database;
  accounts: Accounts;
  attempts: Attempts;
  guesses: Guesses;
  devices: KnownDevices;
  failedSignIns: FailedSignIns;
  sessionSecret: string;
  clock: Clock;
}

export type SessionService = ReturnType<typeof createSessionService>;

interface Given {
  email: string;
  password: string;
}

type Found = Awaited<ReturnType<Accounts['users']['byEmail']>>;

/** Whether the password is right, unless too many were wrong: of this device where it is known, else of this address and of all. */
function createVerify({ accounts: { passwords }, attempts, guesses, devices }: SessionDeps) {
  return async (user: Found, { email, password }: Given, ip: string, token: string | undefined) => {
    const stored = user?.password_hash ?? null;
    const verify = () => passwords.verify(stored, password, ip);
    const device = user && stored !== null ? devices.idOf(token, { userId: user.id, passwordHash: stored }) : null;
    if (device !== null) return attempts.guard(`login:device:${device}`, verify);
    const elsewhere = `login:${countedAddress(ip)}:${normalEmail(email)}`;
    return attempts.guard(elsewhere, () => guesses.guard(email, verify));
  };
}

export function createSessionService(deps: SessionDeps) {
  const { db, accounts, devices, failedSignIns, sessionSecret, clock } = deps;
  const { users, sessions, audit } = accounts;
  const isRight = createVerify(deps);

  return {
    async login(
      given: Given,
      origin: Origin,
      /** What says that the device is known. */
      token?: string,
    ): Promise<Entry & { user: { id: string; name: string }; device: Cookie }> {
      const { email } = given;
      // What is no address belongs to nobody, and is as slow as anybody.
      const user = isEmail(email) ? await users.byEmail(db.system, email) : null;
      const stored = user?.password_hash ?? null;
      const matches = await isRight(user, given, origin.ip, token);
      if (user && stored !== null && matches) {
        const entry = await db.asSystem(async (tx) => {
          // A reset that came in between has ended all sessions; the old password must not open a new one.
          if (!(await holdsPassword(tx, user.id, stored))) return null;
          return sessions.signIn(tx, user.id, 'password', origin);
        });
        const device = devices.cookie({ userId: user.id, passwordHash: stored });
        if (entry) return { user: { id: user.id, name: user.name }, ...entry, device };
      }
      await failedSignIns({ userId: user?.id ?? null, email: normalEmail(email), method: 'password', ip: origin.ip });
      throw new AppError(401, 'Invalid email or password');
    },
    /** The cookie that clears the other one. */
    async signOut(token: string | undefined): Promise<Cookie> {
      if (token) await sessions.signOut(db.system, token);
      return sessions.clearedCookie();
    },
    csrf: ({ sessionId }: User): string => csrfToken(sessionSecret, sessionId ?? ''),
    async list(user: User): Promise<{ sessions: SessionItem[] }> {
      const rows = await listSessions(db.user(user.id), clock());
      return {
        sessions: rows.map(({ id, device, ip, created_at, last_seen_at, expires_at }) => ({
          id,
          device,
          ip,
          createdAt: iso(created_at),
          lastSeen: iso(last_seen_at),
          expiresAt: iso(expires_at),
          current: id === user.sessionId,
        })),
      };
    },
    async end(user: User, id: string, ip: string): Promise<void> {
      await db.asUser(user.id, async (tx) => {
        if (!(await deleteSession(tx, id))) throw new AppError(404, 'Session not found');
        await audit(tx, { userId: user.id, action: 'session-ended', ip });
      });
    },
  };
}
