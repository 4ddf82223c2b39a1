import type { SystemTx, Tables, UserTx } from '@troupe/db';
import type { Insertable } from 'kysely';

export const addBooking = (tx: SystemTx, booking: Insertable<Tables['bookings']>) =>
  tx.insertInto('bookings').values(booking).execute();

export const lockBooking = (tx: SystemTx, id: string) =>
  tx
    .selectFrom('bookings')
    .select(['id', 'from_agent_id', 'to_agent_id', 'status', 'last_by'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export interface BookingChange {
  status: Tables['bookings']['status'];
  last_by: string;
  updated_at: Date;
  amount?: bigint;
}

export const changeBooking = (tx: SystemTx, id: string, values: BookingChange) =>
  tx.updateTable('bookings').set(values).where('id', '=', id).execute();

export const listBookings = (tx: UserTx, limit: number) =>
  tx.selectFrom('bookings').selectAll().orderBy('number', 'desc').limit(limit).execute();

export const addRequest = (tx: SystemTx, request: Insertable<Tables['amplify_requests']>) =>
  tx.insertInto('amplify_requests').values(request).execute();

export const lockRequest = (tx: SystemTx, id: string) =>
  tx
    .selectFrom('amplify_requests')
    .select(['from_agent_id', 'to_agent_id', 'status'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export const changeRequest = (tx: SystemTx, id: string, status: Tables['amplify_requests']['status'], at: Date) =>
  tx.updateTable('amplify_requests').set({ status, updated_at: at }).where('id', '=', id).execute();

export const listRequests = (tx: UserTx, limit: number) =>
  tx.selectFrom('amplify_requests').selectAll().orderBy('number', 'desc').limit(limit).execute();
