import { hmacHex, randomHex, sameSecret, type Clock, type Cookie } from '@troupe/kernel';

/**
 * Where the password was right once, a cookie says so: wrong ones from elsewhere do not keep its owner out there. It opens
 * nothing, and counts for this account and this password alone.
 */
export interface KnownDevices {
  cookie: (account: Account) => Cookie;
  /** The name of the device; null: it is none that is known. */
  idOf: (token: string | undefined, account: Account) => string | null;
}

interface Account {
  userId: string;
  passwordHash: string;
}

export const DEVICE_COOKIE = 'svc-device';
const LIFE_S = 180 * 86_400;
const TOKEN = /^([0-9a-f]{32})\.(\d{10})\.([0-9a-f]{64})$/;

export function createKnownDevices(deps: { sessionSecret: string; clock: Clock; secure: boolean }): KnownDevices {
  const { sessionSecret, clock, secure } = deps;
  const nowS = (): number => Math.floor(clock().getTime() / 1000);
  const signature = (id: string, ends: string, { userId, passwordHash }: Account): string =>
    hmacHex(sessionSecret, `device ${id} ${ends} ${userId} ${passwordHash}`);

  return {
    cookie(account) {
      const id = randomHex(16);
      const ends = String(nowS() + LIFE_S);
      const value = `${id}.${ends}.${signature(id, ends, account)}`;
      return { name: DEVICE_COOKIE, value, maxAge: LIFE_S, httpOnly: true, sameSite: 'lax', path: '/api/auth', secure };
    },
    idOf(token, account) {
      const [, id, ends, given] = TOKEN.exec(token ?? '') ?? [];
      if (id === undefined || ends === undefined || given === undefined || Number(ends) <= nowS()) return null;
      return sameSecret(given, signature(id, ends, account)) ? id : null;
    },
  };
}
