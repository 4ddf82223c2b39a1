import type { Accounts } from '@troupe/accounts';
import { INVALID_KEY, KEY_NAME_LENGTH, MOST_KEYS } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { featuresOf, ownPlan, type Plan } from '@troupe/domain';
import { AppError, iso, isoOrNull, newId, randomHex, sha256Hex, type Clock, type User } from '@troupe/kernel';
import { countKeys, deleteKey, findKey, hasSession, insertKey, listKeys, type KeyRow } from './store.ts';

interface KeyItem {
  id: string;
  name: string;
  keyPreview: string;
  createdAt: string;
  lastUsed: string | null;
  origins: string[];
}

const PREVIEW = 10;

const toItem = ({ id, name, preview, created_at, last_used_at, origins }: KeyRow): KeyItem => ({
  id,
  name,
  keyPreview: preview,
  createdAt: iso(created_at),
  lastUsed: isoOrNull(last_used_at),
  origins,
});

/** For a program that its person let in; in the transaction in which that is found out. */
const createIssue =
  ({ audit, clock }: { audit: Accounts['audit']; clock: Clock }) =>
  async (tx: SystemTx, { userId, name: given }: { userId: string; name: string }): Promise<string> => {
    const name =
      given
        .replaceAll(/\p{Cc}/gu, ' ')
        .trim()
        .slice(0, KEY_NAME_LENGTH) || 'A program';
    const key = `sk_${randomHex(32)}`;
    const row = { id: newId(), name, origins: [], preview: `${key.slice(0, PREVIEW)}...`, created_at: clock() };
    if ((await countKeys(tx, userId)) >= MOST_KEYS)
      throw new AppError(400, 'invalid_grant', { error_description: `Too many keys (max ${MOST_KEYS})` });
    await insertKey(tx, { ...row, user_id: userId, key_hash: sha256Hex(key) });
    await audit(tx, { userId, action: 'key-created', detail: { id: row.id, name, origins: [] } });
    return key;
  };

export type Keys = ReturnType<typeof createKeys>;

export function createKeys({ db, accounts, clock }: { db: Database; accounts: Accounts; clock: Clock }) {
  const { audit, confirmation } = accounts;
  const unknown = () => new AppError(404, 'Key not found');

  return {
    list: async (userId: string): Promise<KeyItem[]> => (await listKeys(db.user(userId))).map(toItem),
    async get(userId: string, id: string): Promise<KeyItem> {
      const row = await findKey(db.user(userId), id);
      if (!row) throw unknown();
      return toItem(row);
    },
    async create(
      { id: userId, sessionId }: Pick<User, 'id' | 'sessionId'>,
      { name, origins }: { name: string; origins: string[] },
      ip: string,
    ): Promise<{ id: string; name: string; key: string; createdAt: string }> {
      await confirmation.requireOfCareful(db.system, { id: userId, sessionId });
      const key = `sk_${randomHex(32)}`;
      const created = { id: newId(), name, origins, preview: `${key.slice(0, PREVIEW)}...`, created_at: clock() };
      return db.asUser(userId, async (tx) => {
        const count = await countKeys(tx, userId);
        // It may have ended on the way here; what ends it holds the same lock.
        if (!(await hasSession(tx, sessionId))) throw new AppError(401, 'Unauthorized');
        if (count >= MOST_KEYS) throw new AppError(429, `Too many keys (max ${MOST_KEYS})`);
        await insertKey(tx, { ...created, user_id: userId, key_hash: sha256Hex(key) });
        await audit(tx, { userId, action: 'key-created', detail: { id: created.id, name, origins }, ip });
        return { id: created.id, name, key, createdAt: iso(created.created_at) };
      });
    },
    issue: createIssue({ audit, clock }),
    remove: (userId: string, id: string, ip: string): Promise<void> =>
      db.asUser(userId, async (tx) => {
        if (!(await deleteKey(tx, id))) throw unknown();
        await audit(tx, { userId, action: 'key-deleted', detail: { id }, ip });
      }),
    async validate(key: string): Promise<{
      valid: true;
      userId: string;
      email: string;
      plan: Plan | null;
      subscriptionStatus: string;
      features: string[];
    }> {
      const user = await accounts.byKey(key);
      if (!user) throw new AppError(401, INVALID_KEY);
      const who = accounts.subscriber(user);
      return {
        valid: true,
        userId: user.id,
        email: user.email,
        plan: ownPlan(who),
        subscriptionStatus: user.subscriptionStatus,
        features: featuresOf(who),
      };
    },
  };
}
