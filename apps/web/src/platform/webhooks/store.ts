import type { Webhook, WebhookDelivery } from '@troupe/contract';
import type { SystemTx, UserTx } from '@troupe/db';
import { iso, isoOrNull } from '@troupe/kernel';

export interface EndpointRow {
  id: string;
  user_id: string;
  url: string;
  events: string[];
  enabled: boolean;
  secret: Buffer;
  old_secret: Buffer | null;
  old_secret_until: Date | null;
  created_at: Date;
}

export const shownEndpoint = ({ id, url, events, enabled, created_at }: EndpointRow): Webhook => ({
  id,
  url,
  events: events as Webhook['events'],
  enabled,
  createdAt: iso(created_at),
});

export const listEndpoints = (tx: UserTx): Promise<EndpointRow[]> =>
  tx.selectFrom('webhook_endpoints').selectAll().orderBy('created_at').orderBy('id').execute();

export const findEndpoint = (tx: UserTx, id: string): Promise<EndpointRow | undefined> =>
  tx.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirst();

export async function countPending(tx: UserTx, endpointId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('endpoint_id', '=', endpointId)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Two that one user makes at once must not both be the last one. */
export const takeTurn = (tx: UserTx, userId: string) =>
  tx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().executeTakeFirst();

export type NewEndpoint = Pick<EndpointRow, 'id' | 'user_id' | 'url' | 'events' | 'secret'>;

export const addEndpoint = (tx: UserTx, row: NewEndpoint, now: Date): Promise<EndpointRow> =>
  tx
    .insertInto('webhook_endpoints')
    .values({ ...row, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();

type Changes = Partial<Pick<EndpointRow, 'url' | 'events' | 'enabled' | 'secret' | 'old_secret' | 'old_secret_until'>>;

export const changeEndpoint = (tx: UserTx, id: string, set: Changes, now: Date): Promise<EndpointRow> =>
  tx
    .updateTable('webhook_endpoints')
    .set({ ...set, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

export const removeEndpoint = (tx: UserTx, id: string) =>
  tx.deleteFrom('webhook_endpoints').where('id', '=', id).execute();

/** A message of our own making; its job is sent with it. */
export const addTest = (
  tx: UserTx,
  { id, endpointId, userId }: Record<'id' | 'endpointId' | 'userId', string>,
  now: Date,
) =>
  tx
    .insertInto('webhook_deliveries')
    .values({
      id,
      endpoint_id: endpointId,
      user_id: userId,
      type: 'webhook.test',
      data: JSON.stringify({ id }),
      at: now,
      queued_at: now,
    })
    .execute();

/** How a delivery stands; held until the transaction ends. */
export const lockDelivery = (tx: UserTx, endpointId: string, id: string) =>
  tx
    .selectFrom('webhook_deliveries')
    .select('status')
    .where('id', '=', id)
    .where('endpoint_id', '=', endpointId)
    .forUpdate()
    .executeTakeFirst();

export const reopen = (tx: UserTx, id: string) =>
  tx
    .updateTable('webhook_deliveries')
    .set({ status: 'pending', ended_at: null, problem: null })
    .where('id', '=', id)
    .execute();

/** Newest first. */
export async function listDeliveries(tx: UserTx, endpointId: string, limit: number): Promise<WebhookDelivery[]> {
  const rows = await tx
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('endpoint_id', '=', endpointId)
    .orderBy('at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id, type, data, at, status, attempts, answered, problem, ended_at }) => ({
    id,
    type,
    data: data as Record<string, unknown>,
    at: iso(at),
    status,
    attempts,
    answered,
    problem,
    endedAt: isoOrNull(ended_at),
  }));
}

/** A delivery that is under way, and where it goes. */
export const findPending = (tx: SystemTx, id: string) =>
  tx
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'delivery.endpoint_id')
    .select(['delivery.id', 'delivery.type', 'delivery.data', 'delivery.at', 'delivery.attempts'])
    .select(['endpoint.id as endpoint_id', 'endpoint.url', 'endpoint.enabled'])
    .select(['endpoint.secret', 'endpoint.old_secret', 'endpoint.old_secret_until'])
    .where('delivery.id', '=', id)
    .where('delivery.status', '=', 'pending')
    .executeTakeFirst();

export type Pending = NonNullable<Awaited<ReturnType<typeof findPending>>>;

/** Some that nobody has taken up; from now on they are taken. */
export const takeNew = (tx: SystemTx, limit: number, at: Date) =>
  tx
    .updateTable('webhook_deliveries')
    .set({ queued_at: at })
    .where('id', 'in', (query) =>
      query
        .selectFrom('webhook_deliveries')
        .select('id')
        .where('queued_at', 'is', null)
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'user_id'])
    .execute();

/** The log of an address has so many entries. */
const KEPT = 2000;

export async function trimLog(tx: SystemTx, endpointId: string): Promise<void> {
  const oldest = await tx
    .selectFrom('webhook_deliveries')
    .select('at')
    .where('endpoint_id', '=', endpointId)
    .orderBy('at', 'desc')
    .offset(KEPT)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await tx
    .deleteFrom('webhook_deliveries')
    .where('endpoint_id', '=', endpointId)
    .where('at', '<=', oldest.at)
    .where('status', '<>', 'pending')
    .execute();
}

export interface Outcome {
  status: WebhookDelivery['status'];
  answered: number | null;
  problem: string | null;
  attempts: number;
}

export const noteOutcome = (tx: SystemTx, id: string, outcome: Outcome, now: Date) =>
  tx
    .updateTable('webhook_deliveries')
    .set({ ...outcome, ended_at: outcome.status === 'pending' ? null : now })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .execute();

export const forgetBefore = (tx: SystemTx, then: Date) =>
  tx.deleteFrom('webhook_deliveries').where('ended_at', '<', then).execute();
