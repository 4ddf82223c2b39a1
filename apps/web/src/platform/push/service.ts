import { PUSH_KINDS, type PushSubscriptionRow } from '@troupe/contract';
import type { Database } from '@troupe/db';
import { AppError, newId, type Cipher, type Clock } from '@troupe/kernel';
import { createKeys } from './keys.ts';
import { isPoint } from './seal.ts';
import {
  addSubscription,
  addTest,
  choicesOf,
  countOthers,
  countWaiting,
  listSubscriptions,
  removeSubscription,
  shown,
  takeTurn,
} from './store.ts';

export interface PushDeps {
  db: Database;
  clock: Clock;
  cipher: Cipher;
  /** Only people on this machine use the platform: then http is as good as https. */
  plainAllowed: boolean;
  /** Takes up what was written down. */
  tell: () => void;
}

export type PushService = ReturnType<typeof createPush>;

const MOST = 20;
/** As the database has it for what happens. */
const MOST_WAITING = 100;

interface Given {
  endpoint: string;
  keys: { p256dh: string; auth: string };
  name: string;
}

/** The browsers that a person is told by. */
export function createPush(deps: PushDeps) {
  const { db, clock, plainAllowed } = deps;
  const keys = createKeys(deps);

  return {
    async get(userId: string) {
      const [{ publicKey }, rows, chosen] = await Promise.all([
        keys(),
        listSubscriptions(db.user(userId)),
        choicesOf(db.user(userId), userId),
      ]);
      const said = (chosen?.notifications ?? {}) as Record<string, unknown>;
      const kinds = Object.entries(PUSH_KINDS).map(([kind, otherwise]) => {
        const choice = said[`push_${kind}`];
        return [kind, typeof choice === 'boolean' ? choice : otherwise] as const;
      });
      return {
        publicKey: publicKey.toString('base64url'),
        kinds: Object.fromEntries(kinds),
        subscriptions: rows.map(shown),
      };
    },

    async subscribe(userId: string, given: Given): Promise<{ subscription: PushSubscriptionRow }> {
      if (!plainAllowed && !given.endpoint.toLowerCase().startsWith('https:'))
        throw new AppError(400, 'endpoint must be an address that begins with https://');
      const [p256dh, auth] = [given.keys.p256dh, given.keys.auth].map((text) => Buffer.from(text, 'base64url'));
      if (!isPoint(p256dh!)) throw new AppError(400, 'keys must be the p256dh and auth of a push subscription');
      const { endpoint, name } = given;
      const row = await db.asSystem(async (tx) => {
        await takeTurn(tx, userId);
        if ((await countOthers(tx, userId, endpoint)) >= MOST)
          throw new AppError(429, `Too many browsers (max ${MOST})`);
        const made = { id: newId(), user_id: userId, endpoint, p256dh: p256dh!, auth: auth!, name };
        return addSubscription(tx, { ...made, created_at: clock() });
      });
      return { subscription: shown(row) };
    },

    async unsubscribe(userId: string, id: string): Promise<{ success: true }> {
      if (!(await removeSubscription(db.user(userId), id))) throw new AppError(404, 'Browser not found');
      return { success: true };
    },

    async test(userId: string): Promise<{ browsers: number }> {
      const browsers = await db.asUser(userId, async (tx) => {
        const { length } = await listSubscriptions(tx);
        if (length === 0) throw new AppError(404, 'No browser is told yet');
        if ((await countWaiting(tx)) >= MOST_WAITING) throw new AppError(429, 'Too many messages are waiting');
        await addTest(tx, newId(), userId, clock());
        return length;
      });
      deps.tell();
      return { browsers };
    },
  };
}
