import { codeOf, periodOf } from '@troupe/accounts';

/** An authenticator app: it knows a secret as people type it, and the time. */

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function secretBytes(secret: string): Buffer {
  const bits = Array.from(secret, (one) => ALPHABET.indexOf(one).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of that moment; `ahead`: so many periods later. */
export const codeAt = (secret: string, at: Date, ahead = 0): string =>
  codeOf(secretBytes(secret), periodOf(at) + ahead);
