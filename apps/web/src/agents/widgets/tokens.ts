import { hmacHex, newId, sameSecret } from '@troupe/kernel';

/**
 * Who a visitor is, signed and not stored: whoever asks for a thousand tokens leaves nothing behind. One counts for the
 * widget whose public key it was made under, and so ends with that key.
 */

const LIFE_MS = 7 * 86_400_000;
const FORM = /^v1\.([\w-]{1,64})\.(\d{1,12})\.([0-9a-f]{64})$/;

export interface VisitorToken {
  visitorId: string;
  token: string;
  expiresAt: Date;
}

const seal = (secret: string, key: string, visitorId: string, ends: string): string =>
  hmacHex(secret, JSON.stringify(['visitor of a widget', key, visitorId, ends]));

export function mintToken(secret: string, key: string, now: Date, visitorId = newId()): VisitorToken {
  const expiresAt = new Date(Math.ceil((now.getTime() + LIFE_MS) / 1000) * 1000);
  const ends = String(expiresAt.getTime() / 1000);
  return { visitorId, token: `v1.${visitorId}.${ends}.${seal(secret, key, visitorId, ends)}`, expiresAt };
}

/** The visitor that it names; undefined: it does not count. */
export function readToken(secret: string, key: string, token: string, now: Date): string | undefined {
  const [, visitorId, ends, signature] = FORM.exec(token) ?? [];
  if (visitorId === undefined || ends === undefined || signature === undefined) return undefined;
  const counts = sameSecret(signature, seal(secret, key, visitorId, ends)) && Number(ends) * 1000 > now.getTime();
  return counts ? visitorId : undefined;
}
