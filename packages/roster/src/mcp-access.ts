import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@troupe/db';
import { AppError, createCipher } from '@troupe/kernel';
import { sql } from 'kysely';

/** What a user's consent brought at a server of theirs: for all agents, sealed for that server. */

/** Longer than any answer is waited for. */
const RENEWING_SECONDS = 45;
const LOOK_MS = 150;

export function createServerAccess({ db, sealKey }: { db: Database; sealKey: string }) {
  const cipher = createCipher(sealKey, 'mcp');
  const place = (id: string): string => `mcp access ${id}`;

  async function begin(userId: string, id: string): Promise<Date | undefined> {
    const row = await db
      .user(userId)
      .updateTable('mcp_servers')
      // In milliseconds, as it comes back here.
      .set({
        renewing_until: sql<Date>`date_trunc('milliseconds', clock_timestamp() + make_interval(secs => ${RENEWING_SECONDS}))`,
      })
      .where('id', '=', id)
      .where((eb) => eb.or([eb('renewing_until', 'is', null), eb('renewing_until', '<', sql<Date>`clock_timestamp()`)]))
      .returning('renewing_until')
      .executeTakeFirst();
    return row?.renewing_until ?? undefined;
  }

  return (userId: string) => ({
    async load(id: string): Promise<string | undefined> {
      const row = await db
        .user(userId)
        .selectFrom('mcp_servers')
        .select('access')
        .where('id', '=', id)
        .executeTakeFirst();
      return row?.access ? cipher.open(row.access, place(id)) : undefined;
    },

    async save(id: string, text: string | undefined): Promise<void> {
      const access = text === undefined ? null : cipher.seal(text, place(id));
      await db.user(userId).updateTable('mcp_servers').set({ access }).where('id', '=', id).execute();
    },

    /** One at a time, in whatever process; no connection is held meanwhile, and one that died is waited for until its time is over. */
    async alone<T>(id: string, work: () => Promise<T>): Promise<T> {
      const until = Date.now() + (RENEWING_SECONDS + 5) * 1000;
      let held = await begin(userId, id);
      for (; held === undefined; held = await begin(userId, id)) {
        if (Date.now() > until)
          throw new AppError(503, 'The access to the server is being renewed. Try again in a moment.');
        await delay(LOOK_MS);
      }
      try {
        return await work();
      } finally {
        await db
          .user(userId)
          .updateTable('mcp_servers')
          .set({ renewing_until: null })
          .where('id', '=', id)
          .where('renewing_until', '=', held)
          .execute();
      }
    },
  });
}
