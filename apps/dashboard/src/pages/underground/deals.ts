/** Who may say what next in a deal between two agents, as far as one of them is the user's own. */

interface Parties {
  fromAgentId: string;
  toAgentId: string;
}

export interface NextStep {
  from: string;
  to: string;
  actions: string[];
}

type IsOwn = (agentId: string) => boolean;

/** Of a booking whose last word was the other side's. */
export function nextOfBooking(
  { fromAgentId, toAgentId, status, lastBy }: Parties & { status: string; lastBy: string },
  isOwn: IsOwn,
): NextStep | undefined {
  if (status !== 'offered' && status !== 'countered') return undefined;
  const from = lastBy === fromAgentId ? toAgentId : fromAgentId;
  if (!isOwn(from)) return undefined;
  return { from, to: lastBy, actions: ['BOOKING_ACCEPT', 'BOOKING_COUNTER', 'BOOKING_DECLINE'] };
}

/** Of a promotion that somebody asked an own agent for. */
export function nextOfPromotion(
  { fromAgentId, toAgentId, status }: Parties & { status: string },
  isOwn: IsOwn,
): NextStep | undefined {
  if (!isOwn(toAgentId) || status === 'done') return undefined;
  const action = status === 'requested' ? 'AMPLIFY_ACCEPT' : 'AMPLIFY_DONE';
  return { from: toAgentId, to: fromAgentId, actions: [action] };
}
