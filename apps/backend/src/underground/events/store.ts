import type { SystemTx, Tables, UserTx } from '@troupe/db';
import type { Insertable, Selectable } from 'kysely';

export type EventRow = Selectable<Tables['underground_events']>;
export type TicketRow = Selectable<Tables['underground_tickets']>;

export const listEvents = (tx: UserTx, { limit, offset }: { limit: number; offset: number }): Promise<EventRow[]> =>
  tx
    .selectFrom('underground_events')
    .selectAll()
    .orderBy('event_date', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();

export const findEvent = (tx: SystemTx, id: bigint): Promise<EventRow | undefined> =>
  tx.selectFrom('underground_events').selectAll().where('id', '=', id).executeTakeFirst();

export const lockEvent = (tx: SystemTx, id: bigint): Promise<EventRow | undefined> =>
  tx.selectFrom('underground_events').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();

export const addEvent = (tx: UserTx, event: Insertable<Tables['underground_events']>): Promise<EventRow> =>
  tx.insertInto('underground_events').values(event).returningAll().executeTakeFirstOrThrow();

export const countSold = (tx: SystemTx, id: bigint, quantity: number) =>
  tx
    .updateTable('underground_events')
    .set((eb) => ({ sold: eb('sold', '+', quantity) }))
    .where('id', '=', id)
    .execute();

/** Undefined: the user has used the key. */
export const addTicket = (
  tx: SystemTx,
  ticket: Insertable<Tables['underground_tickets']>,
): Promise<TicketRow | undefined> =>
  tx
    .insertInto('underground_tickets')
    .values(ticket)
    .onConflict((conflict) => conflict.columns(['user_id', 'idempotency_key']).doNothing())
    .returningAll()
    .executeTakeFirst();

export const ticketByKey = (tx: SystemTx, userId: string, key: string): Promise<TicketRow | undefined> =>
  tx
    .selectFrom('underground_tickets')
    .selectAll()
    .where('user_id', '=', userId)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
