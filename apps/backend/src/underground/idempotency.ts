import { AppError } from '@troupe/kernel';

const KEY = /^[\x21-\x7e]{1,200}$/;

/** The header with which a caller makes a repeat safe; null: there is none. */
export function idempotencyKey(headers: Readonly<Record<string, string | string[] | undefined>>): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !KEY.test(key)) throw new AppError(400, 'Invalid Idempotency-Key');
  return key;
}

export const otherRequest = (): AppError => new AppError(409, 'Idempotency key was used for another request');
