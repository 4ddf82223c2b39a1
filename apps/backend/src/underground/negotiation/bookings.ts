import { bookingAnswer, bookingCounter, bookingOffer } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { formatAmount, moveBooking, type BookingMove } from '@troupe/domain';
import { AppError, type Clock } from '@troupe/kernel';
import { USD_DECIMALS } from '@troupe/ledger';
import { dollars } from './amounts.ts';
import type { Parties } from '../parties.ts';
import { newBetween, payloadOf, shownBetween } from './between.ts';
import * as store from './store.ts';

const MOVES: Readonly<Record<string, BookingMove>> = {
  BOOKING_COUNTER: 'counter',
  BOOKING_ACCEPT: 'accept',
  BOOKING_DECLINE: 'decline',
};

const priceOf = (amount: string | number): bigint => {
  const units = dollars(amount);
  if (units === null || units === 0n) throw new AppError(400, 'Invalid amount');
  return units;
};

/** The negotiation service: each message is one move, taken in the transaction that stores the message. */
export function createBookings({ db, clock }: { db: Database; clock: Clock }) {
  async function open(tx: SystemTx, parties: Parties, payload: unknown): Promise<Record<string, string>> {
    const given = payloadOf(bookingOffer, payload);
    const booking = newBetween(parties, clock());
    await store.addBooking(tx, {
      ...booking,
      talent_name: given.talentName,
      amount: priceOf(given.amount),
      status: 'offered',
      last_by: parties.from.agentId,
    });
    return { bookingId: booking.id, bookingStatus: 'offered' };
  }

  async function move(
    tx: SystemTx,
    { from, to }: Parties,
    step: BookingMove,
    payload: unknown,
  ): Promise<Record<string, string>> {
    const { bookingId, amount: named } =
      step === 'counter'
        ? payloadOf(bookingCounter, payload)
        : { ...payloadOf(bookingAnswer, payload), amount: undefined };
    const price = named === undefined ? {} : { amount: priceOf(named) };
    const booking = await store.lockBooking(tx, bookingId);
    const sides = booking ? [booking.from_agent_id, booking.to_agent_id] : [];
    if (!booking || !sides.includes(from.agentId)) throw new AppError(404, 'Booking not found');
    const other = booking.from_agent_id === from.agentId ? booking.to_agent_id : booking.from_agent_id;
    if (to.agentId !== other) throw new AppError(400, 'The message must go to the other side of the booking');
    const state = { status: booking.status, lastBy: booking.last_by };
    const next = moveBooking(state, step, from.agentId);
    if ('refused' in next) throw new AppError(409, next.refused);
    const { status, lastBy } = next;
    await store.changeBooking(tx, bookingId, { status, last_by: lastBy, updated_at: clock(), ...price });
    return { bookingId, bookingStatus: next.status };
  }

  return {
    /** What the message is told along to the other side. */
    handle(tx: SystemTx, parties: Parties, action: string, payload: unknown): Promise<Record<string, string>> {
      if (parties.from.agentId === parties.to.agentId) throw new AppError(400, 'An agent cannot book itself');
      if (action === 'BOOKING_OFFER') return open(tx, parties, payload);
      const step = MOVES[action];
      if (!step) throw new AppError(400, `Unknown action ${action}`);
      return move(tx, parties, step, payload);
    },

    async list(userId: string, limit: number) {
      const bookings = (await store.listBookings(db.user(userId), limit)).map((row) => ({
        ...shownBetween(row),
        talentName: row.talent_name,
        amount: formatAmount(row.amount, USD_DECIMALS),
        status: row.status,
        lastBy: row.last_by,
      }));
      return { bookings, count: bookings.length };
    },
  };
}
