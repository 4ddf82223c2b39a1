import type { Database } from '@troupe/db';
import { createCipher } from '@troupe/kernel';

/** What an agent's browser signs in with. What is sealed opens for that agent, that name and that origin alone. */

export interface SealedLogin {
  name: string;
  origin: string;
  username: string;
  password: string;
}

interface Whose {
  userId: string;
  agentId: string;
}

export type Logins = ReturnType<typeof createLogins>;

interface LoginRow {
  user_id: string;
  agent_id: string;
  name: string;
  origin: string;
  sealed: Buffer;
  updated_at: Date;
}

const put = (db: Database, row: LoginRow, most: number): Promise<boolean> =>
  db.asUser(row.user_id, async (tx) => {
    const { agent_id, name, origin, sealed, updated_at } = row;
    // Two at once are counted one after the other.
    await tx.selectFrom('agents').select('id').where('id', '=', agent_id).forUpdate().execute();
    const others = await tx
      .selectFrom('agent_logins')
      .select((rows) => rows.fn.countAll<string>().as('count'))
      .where('agent_id', '=', agent_id)
      .where('name', '!=', name)
      .executeTakeFirstOrThrow();
    if (Number(others.count) >= most) return false;
    await tx
      .insertInto('agent_logins')
      .values(row)
      .onConflict((conflict) => conflict.columns(['agent_id', 'name']).doUpdateSet({ origin, sealed, updated_at }))
      .execute();
    return true;
  });

export function createLogins({ db, sealKey }: { db: Database; sealKey: string }) {
  const cipher = createCipher(sealKey, 'logins');
  const place = ({ agentId }: Whose, name: string, origin: string): string => `login ${agentId} ${name} ${origin}`;

  return {
    async list({ userId, agentId }: Whose) {
      return db
        .user(userId)
        .selectFrom('agent_logins')
        .select(['name', 'origin', 'updated_at'])
        .where('agent_id', '=', agentId)
        .orderBy('name')
        .execute();
    },

    async open(whose: Whose, name: string): Promise<SealedLogin | undefined> {
      const row = await db
        .user(whose.userId)
        .selectFrom('agent_logins')
        .select(['origin', 'sealed'])
        .where('agent_id', '=', whose.agentId)
        .where('name', '=', name)
        .executeTakeFirst();
      if (!row) return undefined;
      const opened = cipher.open(row.sealed, place(whose, name, row.origin));
      const { username, password } = JSON.parse(opened) as { username: string; password: string };
      return { name, origin: row.origin, username, password };
    },

    /** False: there are as many as there may be. */
    async save(
      whose: Whose,
      { name, origin, username, password }: SealedLogin,
      { most, at: updated_at }: { most: number; at: Date },
    ): Promise<boolean> {
      const { userId, agentId } = whose;
      const sealed = cipher.seal(JSON.stringify({ username, password }), place(whose, name, origin));
      return put(db, { user_id: userId, agent_id: agentId, name, origin, sealed, updated_at }, most);
    },

    async remove({ userId, agentId }: Whose, name: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .user(userId)
        .deleteFrom('agent_logins')
        .where('agent_id', '=', agentId)
        .where('name', '=', name)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
