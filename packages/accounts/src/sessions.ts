import type { SystemTx } from '@troupe/db';
import { newId, randomHex, SESSION_COOKIE, sha256Hex, type Clock, type Cookie } from '@troupe/kernel';
import type { Audit, Tx } from './audit.ts';
import { deviceOf } from './device.ts';

const DAY_S = 86_400;
const LIFE_S = 30 * DAY_S;

/** Where a request came from. */
export interface Origin {
  ip: string;
  userAgent: string | undefined;
}

export type SignInMethod = 'password' | 'idp1' | 'idp2' | 'wallet';

export interface Sessions {
  /** Makes a session and puts the sign-in on record. The token is in the cookie and nowhere else. */
  signIn: (tx: SystemTx, userId: string, method: SignInMethod, origin: Origin) => Promise<Cookie>;
  /** Ends the session of this token, if there is one. */
  signOut: (tx: SystemTx, token: string) => Promise<void>;
  endAll: (tx: Tx, userId: string, except?: string | null) => Promise<void>;
  clearedCookie: () => Cookie;
}

interface SessionDeps {
  clock: Clock;
  audit: Audit;
  /** Only over TLS: the public address is https. */
  secure: boolean;
}

export function createSessions({ clock, audit, secure }: SessionDeps): Sessions {
  const cookie = (value: string, maxAge: number): Cookie => ({
    name: SESSION_COOKIE,
    value,
    maxAge,
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure,
  });

  return {
    async signIn(tx, userId, method, { ip, userAgent }) {
      const token = randomHex(32);
      const now = clock();
      await tx
        .insertInto('sessions')
        .values({
          id: newId(),
          user_id: userId,
          token_hash: sha256Hex(token),
          device: deviceOf(userAgent),
          ip,
          created_at: now,
          last_seen_at: now,
          expires_at: new Date(now.getTime() + LIFE_S * 1000),
        })
        .execute();
      await audit(tx, { userId, action: 'sign-in', detail: { method }, ip });
      return cookie(token, LIFE_S);
    },
    async signOut(tx, token) {
      await tx.deleteFrom('sessions').where('token_hash', '=', sha256Hex(token)).execute();
    },
    async endAll(tx, userId, except = null) {
      let query = tx.deleteFrom('sessions').where('user_id', '=', userId);
      if (except !== null) query = query.where('id', '!=', except);
      await query.execute();
    },
    clearedCookie: () => cookie('', 0),
  };
}
