import { normalEmail, type Accounts, type Entry, type Origin } from '@troupe/accounts';
import { isEmail } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError, countedAddress, csrfToken, iso, type Clock, type Cookie, type User } from '@troupe/kernel';
import type { Attempts } from '../attempts.ts';
import type { FailedSignIns } from '../failed-sign-ins.ts';
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
  failedSignIns: FailedSignIns;
  sessionSecret: string;
  clock: Clock;
}

export type SessionService = ReturnType<typeof createSessionService>;

export function createSessionService(deps: SessionDeps) {
  const { db, accounts, attempts, failedSignIns, sessionSecret, clock } = deps;
  const { users, sessions, passwords, audit } = accounts;

  return {
    async login(
      { email, password }: { email: string; password: string },
      origin: Origin,
    ): Promise<Entry & { user: { id: string; name: string } }> {
      // What is no address belongs to nobody, and is as slow as anybody.
      const user = isEmail(email) ? await users.byEmail(db.system, email) : null;
      const stored = user?.password_hash ?? null;
      const matches = await attempts.guard(`login:${countedAddress(origin.ip)}:${normalEmail(email)}`, () =>
        passwords.verify(stored, password, origin.ip),
      );
      const entry =
        user && stored !== null && matches
          ? await db.asSystem(async (tx) => {
              // A reset that came in between has ended all sessions; the old password must not open a new one.
              if (!(await holdsPassword(tx, user.id, stored))) return null;
              return sessions.signIn(tx, user.id, 'password', origin);
            })
          : null;
      if (user && entry) return { user: { id: user.id, name: user.name }, ...entry };
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
