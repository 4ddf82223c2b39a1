import { validationMessage, type Schema } from '@troupe/contract';
import { AppError, iso, newId } from '@troupe/kernel';
import type { Parties } from '../parties.ts';

/** What a new row of a negotiation begins with. */
export const newBetween = ({ from, to }: Parties, now: Date) => ({
  id: newId(),
  from_agent_id: from.agentId,
  from_user_id: from.userId,
  to_agent_id: to.agentId,
  to_user_id: to.userId,
  created_at: now,
  updated_at: now,
});

interface Row {
  id: string;
  from_agent_id: string;
  to_agent_id: string;
  created_at: Date;
  updated_at: Date;
}

/** What both owners are shown of it. */
export const shownBetween = (row: Row) => ({
  id: row.id,
  fromAgentId: row.from_agent_id,
  toAgentId: row.to_agent_id,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/** The payload of a message, checked; 400 says what is wrong with it. */
export function payloadOf<T>(schema: Schema<T>, payload: unknown): T {
  const parsed = schema.safeParse(payload);
  if (!parsed.success) throw new AppError(400, validationMessage(parsed.error, 'payload'));
  return parsed.data;
}
