import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Codes of authenticator apps (RFC 6238), in the one form that all of them know: SHA-1, six digits, thirty seconds. */

const PERIOD_MS = 30_000;
const DIGITS = 6;
/** A phone's clock may be a little off, and typing takes a while. */
const DRIFT = [-1, 0, 1];
const SECRET_BYTES = 20;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31];
    held &= 31;
  }
  return bits > 0 ? text + ALPHABET[(held << (5 - bits)) & 31] : text;
}

export const newSecret = (): Buffer => randomBytes(SECRET_BYTES);

/** Which period of thirty seconds it is. */
export const periodOf = (at: Date): number => Math.floor(at.getTime() / PERIOD_MS);

export function codeOf(secret: Uint8Array, period: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(period));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac[19]! & 15;
  const number = (mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

/** The period whose code it is, later than `after`; null: none. All are compared, whichever it is. */
export function matchingPeriod(secret: Uint8Array, code: string, now: Date, after: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  let found: number | null = null;
  for (const drift of DRIFT) {
    const period = periodOf(now) + drift;
    if (timingSafeEqual(Buffer.from(codeOf(secret, period)), Buffer.from(code)) && period > after) found = period;
  }
  return found;
}

/** What an app reads from a picture or a link. */
export function otpauthUri(secret: Uint8Array, issuer: string, account: string): string {
  const query = new URLSearchParams({ secret: base32(secret), issuer, algorithm: 'SHA1', digits: '6', period: '30' });
  // Apps differ in what they make of a plus sign.
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${query.toString().replaceAll('+', '%20')}`;
}
