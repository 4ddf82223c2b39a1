import { raiseNotice } from '@troupe/accounts';
import type { Database, SystemTx } from '@troupe/db';
import { AppError, iso, type Cipher, type Clock, type Identity } from '@troupe/kernel';
import * as store from './store.ts';

const SILENCE_MS = 5 * 60_000;

export interface InstallationsDeps {
  db: Database;
  clock: Clock;
  cipher: Cipher;
  dashboardUrl: string;
  /** The loopback rule holds: whoever is on this machine may speak for every user. */
  open: boolean;
}

type Mode = store.NewInstallation['mode'];

/** Those that were heard of and are not any more. */
function watching({ db, clock }: InstallationsDeps) {
  return {
    /** Tells owners whose installation has gone silent. Called again and again. */
    tellQuiet: () =>
      db.asSystem(async (tx) => {
        const quiet = await store.markQuiet(tx, new Date(clock().getTime() - SILENCE_MS));
        const known = await store.knownUsers(
          tx,
          quiet.map(({ user_id }) => user_id),
        );
        for (const { user_id, mode } of quiet.filter((row) => known.has(row.user_id)))
          await raiseNotice(
            tx,
            {
              userId: user_id,
              kind: 'installation_quiet',
              subject: user_id,
              message: `Your ${mode} installation has not been heard of for ${SILENCE_MS / 60_000} minutes`,
              link: '/dashboard/installations',
            },
            clock(),
          );
      }),
  };
}

export type InstallationsService = ReturnType<typeof createInstallations>;

export function createInstallations(deps: InstallationsDeps) {
  const { db, clock, cipher, dashboardUrl, open } = deps;
  const context = (userId: string) => `installation:${userId}`;
  const isAlive = (lastSeen: Date) => clock().getTime() - lastSeen.getTime() < SILENCE_MS;

  /** A record of somebody who has an account here is that one's alone: no stranger registers it, moves it or keeps it alive. */
  async function speaksFor(tx: SystemTx, identity: Identity, userId: string): Promise<boolean> {
    if (open || (identity.verified && identity.id === userId)) return true;
    return !(await store.knownUsers(tx, [userId])).has(userId);
  }

  return {
    register: (identity: Identity, userId: string, mode: Mode, gatewayToken: string | undefined) =>
      db.asSystem(async (tx) => {
        if (!(await speaksFor(tx, identity, userId))) throw new AppError(403, 'This needs the user’s API key');
        const found = await store.lockInstallation(tx, userId);
        const known = found?.gateway_token_sealed
          ? cipher.open(found.gateway_token_sealed, context(userId))
          : undefined;
        const isOther = found !== undefined && gatewayToken !== undefined && gatewayToken !== known;
        if (isOther && !(identity.byKey && identity.id === userId))
          throw new AppError(403, 'Another gateway token needs the user’s API key');
        const tokenSealed = gatewayToken === undefined ? undefined : cipher.seal(gatewayToken, context(userId));
        await store.putInstallation(tx, { userId, mode, tokenSealed, at: clock() });
        const message = found ? `Installation updated (${mode})` : `Installation registered (${mode})`;
        return { success: true as const, message, dashboardUrl };
      }),

    async list(identity: Identity) {
      const rows = await store.listOf(db.system, identity.id);
      const installations = rows.map((row) => ({
        user_id: row.user_id,
        mode: row.mode,
        registered_at: iso(row.registered_at),
        last_seen: iso(row.last_seen),
        status: isAlive(row.last_seen) ? ('active' as const) : ('inactive' as const),
      }));
      return { success: true as const, count: installations.length, installations };
    },

    /** One of an unknown user, or for somebody else, changes nothing and is answered all the same. */
    async heartbeat(identity: Identity, given: string | undefined) {
      const now = clock();
      const userId = given ?? identity.id;
      if (await speaksFor(db.system, identity, userId)) await store.touch(db.system, userId, now);
      return { success: true as const, timestamp: iso(now) };
    },

    ...watching(deps),
  };
}
