/** Two agents negotiate a booking in turns: whoever did not speak last may counter, accept or decline. */

export const BOOKING_STATUSES = ['offered', 'countered', 'accepted', 'declined'] as const;
export type BookingStatus = (typeof BOOKING_STATUSES)[number];

const RESULT = { counter: 'countered', accept: 'accepted', decline: 'declined' } as const;
export type BookingMove = keyof typeof RESULT;

export interface BookingState {
  status: BookingStatus;
  /** The agent that made the last move. */
  lastBy: string;
}

/** The state after a move of `by`, who is one of the two; or why there is none. */
export function moveBooking(
  { status, lastBy }: BookingState,
  move: BookingMove,
  by: string,
): BookingState | { refused: string } {
  if (status === 'accepted' || status === 'declined') return { refused: `Booking is ${status}` };
  if (lastBy === by) return { refused: 'Waiting for the other side' };
  return { status: RESULT[move], lastBy: by };
}
