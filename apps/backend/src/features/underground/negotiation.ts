import { validationMessage, type Schema } from '@troupe/contract';
import { AppError } from '@troupe/kernel';

interface Side {
  agentId: string;
  userId: string;
}

/** Who speaks, and to whom. */
export interface Parties {
  from: Side;
  to: Side;
}

/** The payload of a message, checked; 400 says what is wrong with it. */
export function payloadOf<T>(schema: Schema<T>, payload: unknown): T {
  const parsed = schema.safeParse(payload);
  if (!parsed.success) throw new AppError(400, validationMessage(parsed.error, 'payload'));
  return parsed.data;
}
