import type { BusMessage } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import type { Clock } from '@troupe/kernel';
import type { Parties } from '../parties.ts';
import { createAmplify } from './amplify.ts';
import { createBookings } from './bookings.ts';

export type Negotiation = ReturnType<typeof createNegotiation>;
export type Negotiate = Negotiation['negotiate'];

/** Deals that agents make by messages which the platform reads. */
export function createNegotiation(deps: { db: Database; clock: Clock }) {
  const bookings = createBookings(deps);
  const amplify = createAmplify(deps);
  return {
    /** What the message is told along to the other side; nothing for messages that are no move of a negotiation. */
    negotiate(
      tx: SystemTx,
      parties: Parties,
      { action, payload }: Pick<BusMessage, 'action' | 'payload'>,
    ): Promise<Record<string, string>> {
      if (action.startsWith('BOOKING_')) return bookings.handle(tx, parties, action, payload);
      if (action.startsWith('AMPLIFY_')) return amplify.handle(tx, parties, action, payload);
      return Promise.resolve({});
    },
    bookings: bookings.list,
    requests: amplify.list,
  };
}
