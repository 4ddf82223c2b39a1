import type { Database } from '@troupe/db';
import { sameSecret, sha256Hex, type Authenticator, type Clock, type Log } from '@troupe/kernel';
import { CompiledQuery, sql } from 'kysely';
import { createLookup } from './batch.ts';
import { createTouches } from './touches.ts';
import type { Reader, UserRow } from './user.ts';

interface AuthenticatorDeps {
  db: Database;
  clock: Clock;
  log: Log;
  reader: Reader;
}

const TOKEN = /^[0-9a-f]{64}$/;
const KEY = /^sk_[0-9a-f]{64}$/;
const ACCESS_TOKEN = /^at_[0-9a-f]{64}$/;
const TOUCH_AFTER_MS = 60_000;

const USER = 'u.id, u.email, u.name, u.is_admin, u.email_verified_at, u.plan, u.subscription_status';

// Text, not builders: both run with every request, and compiling them anew costs more than the rest.
const BY_SESSION = `select ${USER}, s.id as found_id, s.last_seen_at as touched_at, s.token_hash as hash
  from sessions s join users u on u.id = s.user_id where s.token_hash = any($1) and s.expires_at > $2`;
const BY_KEY = `select ${USER}, k.id as found_id, k.last_used_at as touched_at, k.key_hash as hash, k.origins
  from api_keys k join users u on u.id = k.user_id where k.key_hash = any($1)`;

const BY_TOKEN = `select ${USER}, g.id as found_id, g.used_at as touched_at, t.hash, t.scopes
  from client_tokens t join client_grants g on g.id = t.grant_id join users u on u.id = t.user_id
  where t.hash = any($1) and t.kind = 'access' and t.expires_at > $2 and g.audience = 'platform'`;

// One text for any number of ids, so that the server keeps one plan.
const anyOf = (ids: string[]) => sql<string>`any(${ids})`;

type Found = UserRow & {
  found_id: string;
  touched_at: Date | null;
  hash: string;
  origins?: string[];
  scopes?: string[];
};

export type ClosableAuthenticator = Authenticator & { close: () => Promise<void> };

/** When what was last used: written behind the answers. */
function createAllTouches({ db, clock, log }: Pick<AuthenticatorDeps, 'db' | 'clock' | 'log'>) {
  const touches = (write: (ids: string[]) => Promise<unknown>) =>
    createTouches({
      log,
      write: async (ids) => {
        await write(ids);
      },
    });
  return {
    sessions: touches((ids) =>
      db.system.updateTable('sessions').set({ last_seen_at: clock() }).where('id', '=', anyOf(ids)).execute(),
    ),
    keys: touches((ids) =>
      db.system.updateTable('api_keys').set({ last_used_at: clock() }).where('id', '=', anyOf(ids)).execute(),
    ),
    grants: touches((ids) =>
      db.system.updateTable('client_grants').set({ used_at: clock() }).where('id', '=', anyOf(ids)).execute(),
    ),
  };
}

/** One round trip for all that arrive together; the time of last use moves once a minute, after the answer. */
export function createAuthenticator({ db, clock, log, reader }: AuthenticatorDeps): ClosableAuthenticator {
  const { sessions, keys, grants } = createAllTouches({ db, clock, log });
  const lookup = (text: string, ...more: (() => unknown)[]) =>
    createLookup<Found>(async (hashes) => {
      const values = [hashes, ...more.map((value) => value())];
      const { rows } = await db.system.executeQuery<Found>(CompiledQuery.raw(text, values));
      return new Map(rows.map((row) => [row.hash, row]));
    });
  const findSession = lookup(BY_SESSION, clock);
  const findKey = lookup(BY_KEY);
  const findToken = lookup(BY_TOKEN, clock);
  const isStale = (touchedAt: Date | null, now: Date): boolean =>
    touchedAt === null || now.getTime() - touchedAt.getTime() >= TOUCH_AFTER_MS;

  return {
    async bySession(token) {
      if (!TOKEN.test(token)) return null;
      const now = clock();
      const row = await findSession(sha256Hex(token));
      if (!row) return null;
      if (isStale(row.touched_at, now)) sessions.touch(row.found_id);
      return reader.toUser(row, row.found_id);
    },
    async byKey(key) {
      if (!KEY.test(key)) return null;
      const hash = sha256Hex(key);
      const row = await findKey(hash);
      if (!row || !sameSecret(row.hash, hash)) return null;
      if (isStale(row.touched_at, clock())) keys.touch(row.found_id);
      return { ...reader.toUser(row, null), keyId: row.found_id, origins: row.origins ?? [] };
    },
    async byAccessToken(token) {
      if (!ACCESS_TOKEN.test(token)) return null;
      const row = await findToken(sha256Hex(token));
      if (!row) return null;
      if (isStale(row.touched_at, clock())) grants.touch(row.found_id);
      // A program is never an administrator, whoever it works for; a page may use it that has it.
      const user = { ...reader.toUser(row, null), isAdmin: false };
      return { ...user, grantId: row.found_id, scopes: row.scopes ?? [], origins: ['*'] };
    },
    close: async () => {
      await Promise.all([sessions.close(), keys.close(), grants.close()]);
    },
  };
}
