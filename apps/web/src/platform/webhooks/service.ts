import { randomBytes } from 'node:crypto';
import { WEBHOOK_EVENTS, webhookJob, type Webhook } from '@troupe/contract';
import type { Database, Jobs, UserTx } from '@troupe/db';
import { AppError, newId, randomHex, type Cipher, type Clock } from '@troupe/kernel';
import { SECRET_PREFIX } from './delivery.ts';
import {
  addEndpoint,
  addTest,
  changeEndpoint,
  countPending,
  findEndpoint,
  listDeliveries,
  listEndpoints,
  lockDelivery,
  removeEndpoint,
  reopen,
  shownEndpoint,
  takeTurn,
  type EndpointRow,
} from './store.ts';

export interface WebhooksDeps {
  db: Database;
  jobs: Jobs;
  clock: Clock;
  cipher: Cipher;
  /** Only people on this machine use the platform: then http is as good as https. */
  plainAllowed: boolean;
}

export type WebhooksService = ReturnType<typeof createWebhooks>;

const MOST = 20;
/** As the database has it for what happens. */
const MOST_PENDING = 1000;
const SECRET_BYTES = 32;
const BOTH_SIGN_MS = 86_400_000;

interface Given {
  url?: string;
  events?: Webhook['events'];
  enabled?: boolean;
}

const newSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

async function own(tx: UserTx, id: string): Promise<EndpointRow> {
  const found = await findEndpoint(tx, id);
  if (found === undefined) throw new AppError(404, 'Webhook not found');
  return found;
}

/** What is sent because its owner wants it, and what was sent. */
function createSending({ db, jobs, clock }: WebhooksDeps) {
  async function send(tx: UserTx, userId: string, deliveryId: string): Promise<{ deliveryId: string }> {
    await jobs.send(tx, webhookJob, { id: deliveryId }, { owner: userId });
    return { deliveryId };
  }

  return {
    test: (userId: string, id: string) =>
      db.asUser(userId, async (tx) => {
        await own(tx, id);
        if ((await countPending(tx, id)) >= MOST_PENDING) throw new AppError(429, 'Too many deliveries are waiting');
        const deliveryId = `msg_${randomHex(16)}`;
        await addTest(tx, { id: deliveryId, endpointId: id, userId }, clock());
        return send(tx, userId, deliveryId);
      }),

    deliveries: (userId: string, id: string, limit: number) =>
      db.asUser(userId, async (tx) => {
        await own(tx, id);
        return { deliveries: await listDeliveries(tx, id, limit) };
      }),

    replay: (userId: string, id: string, deliveryId: string) =>
      db.asUser(userId, async (tx) => {
        await own(tx, id);
        const row = await lockDelivery(tx, id, deliveryId);
        if (row === undefined) throw new AppError(404, 'Delivery not found');
        if (row.status === 'pending') throw new AppError(409, 'It is still under way');
        await reopen(tx, deliveryId);
        return send(tx, userId, deliveryId);
      }),
  };
}

export function createWebhooks(deps: WebhooksDeps) {
  const { db, clock, cipher, plainAllowed } = deps;
  function check({ url }: Given): void {
    if (url !== undefined && !plainAllowed && !url.toLowerCase().startsWith('https:'))
      throw new AppError(400, 'url must be an address that begins with https://');
  }

  return {
    async list(userId: string) {
      const rows = await listEndpoints(db.user(userId));
      return { webhooks: rows.map(shownEndpoint), events: [...WEBHOOK_EVENTS] };
    },

    create(userId: string, given: Required<Pick<Given, 'url' | 'events'>>) {
      check(given);
      return db.asUser(userId, async (tx) => {
        await takeTurn(tx, userId);
        if ((await listEndpoints(tx)).length >= MOST) throw new AppError(429, `Too many webhooks (max ${MOST})`);
        const [id, secret] = [newId(), newSecret()];
        const events = [...new Set(given.events)];
        const row = { id, user_id: userId, url: given.url, events, secret: cipher.seal(secret, id) };
        return { webhook: shownEndpoint(await addEndpoint(tx, row, clock())), secret };
      });
    },

    update(userId: string, id: string, given: Given) {
      check(given);
      const { url, events, enabled } = given;
      const set = {
        ...(url !== undefined && { url }),
        ...(events !== undefined && { events: [...new Set(events)] }),
        ...(enabled !== undefined && { enabled }),
      };
      return db.asUser(userId, async (tx) => {
        await own(tx, id);
        return { webhook: shownEndpoint(await changeEndpoint(tx, id, set, clock())) };
      });
    },

    remove: (userId: string, id: string) =>
      db.asUser(userId, async (tx) => {
        await own(tx, id);
        await removeEndpoint(tx, id);
        return { success: true as const };
      }),

    rotate: (userId: string, id: string) =>
      db.asUser(userId, async (tx) => {
        const { secret: old } = await own(tx, id);
        const secret = newSecret();
        const now = clock();
        const old_secret_until = new Date(now.getTime() + BOTH_SIGN_MS);
        const set = { secret: cipher.seal(secret, id), old_secret: old, old_secret_until };
        return { webhook: shownEndpoint(await changeEndpoint(tx, id, set, now)), secret };
      }),
    ...createSending(deps),
  };
}
