import { randomBytes } from 'node:crypto';
import { WEBHOOK_EVENTS, webhookJob, type Webhook } from '@troupe/contract';
import type { Database, Jobs, UserTx } from '@troupe/db';
import { AppError, newId, randomHex, type Cipher, type Clock } from '@troupe/kernel';
import { SECRET_PREFIX } from './delivery.ts';
import { countPending, findEndpoint, listDeliveries, listEndpoints, shownEndpoint, type EndpointRow } from './store.ts';

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

export function createWebhooks({ db, jobs, clock, cipher, plainAllowed }: WebhooksDeps) {
  const newSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

  function check({ url }: Given): void {
    if (url !== undefined && !plainAllowed && !url.toLowerCase().startsWith('https:'))
      throw new AppError(400, 'url must be an address that begins with https://');
  }

  async function own(tx: UserTx, id: string): Promise<EndpointRow> {
    const found = await findEndpoint(tx, id);
    if (found === undefined) throw new AppError(404, 'Webhook not found');
    return found;
  }

  async function change(tx: UserTx, id: string, set: Record<string, unknown>): Promise<EndpointRow> {
    await own(tx, id);
    return tx
      .updateTable('webhook_endpoints')
      .set({ ...set, updated_at: clock() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  async function send(tx: UserTx, userId: string, deliveryId: string): Promise<{ deliveryId: string }> {
    await jobs.send(tx, webhookJob, { id: deliveryId }, { owner: userId });
    return { deliveryId };
  }

  return {
    async list(userId: string) {
      const rows = await listEndpoints(db.user(userId));
      return { webhooks: rows.map(shownEndpoint), events: [...WEBHOOK_EVENTS] };
    },

    create(userId: string, given: Required<Pick<Given, 'url' | 'events'>>) {
      check(given);
      return db.asUser(userId, async (tx) => {
        // Two at once must not both be the last one.
        await tx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().executeTakeFirst();
        if ((await listEndpoints(tx)).length >= MOST) throw new AppError(429, `Too many webhooks (max ${MOST})`);
        const [id, secret, now] = [newId(), newSecret(), clock()];
        const row = await tx
          .insertInto('webhook_endpoints')
          .values({
            id,
            user_id: userId,
            url: given.url,
            events: [...new Set(given.events)],
            secret: cipher.seal(secret, id),
            created_at: now,
            updated_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        return { webhook: shownEndpoint(row), secret };
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
      return db.asUser(userId, async (tx) => ({ webhook: shownEndpoint(await change(tx, id, set)) }));
    },

    remove: (userId: string, id: string) =>
      db.asUser(userId, async (tx) => {
        await own(tx, id);
        await tx.deleteFrom('webhook_endpoints').where('id', '=', id).execute();
        return { success: true as const };
      }),

    rotate: (userId: string, id: string) =>
      db.asUser(userId, async (tx) => {
        const { secret: old } = await own(tx, id);
        const secret = newSecret();
        const row = await change(tx, id, {
          secret: cipher.seal(secret, id),
          old_secret: old,
          old_secret_until: new Date(clock().getTime() + BOTH_SIGN_MS),
        });
        return { webhook: shownEndpoint(row), secret };
      }),

    test: (userId: string, id: string) =>
      db.asUser(userId, async (tx) => {
        await own(tx, id);
        if ((await countPending(tx, id)) >= MOST_PENDING) throw new AppError(429, 'Too many deliveries are waiting');
        const deliveryId = `msg_${randomHex(16)}`;
        const now = clock();
        await tx
          .insertInto('webhook_deliveries')
          .values({
            id: deliveryId,
            endpoint_id: id,
            user_id: userId,
            type: 'webhook.test',
            data: JSON.stringify({ id: deliveryId }),
            at: now,
            queued_at: now,
          })
          .execute();
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
        const row = await tx
          .selectFrom('webhook_deliveries')
          .select('status')
          .where('id', '=', deliveryId)
          .where('endpoint_id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (row === undefined) throw new AppError(404, 'Delivery not found');
        if (row.status === 'pending') throw new AppError(409, 'It is still under way');
        await tx
          .updateTable('webhook_deliveries')
          .set({ status: 'pending', ended_at: null, problem: null })
          .where('id', '=', deliveryId)
          .execute();
        return send(tx, userId, deliveryId);
      }),
  };
}
