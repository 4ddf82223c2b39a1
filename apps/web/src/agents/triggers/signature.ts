import { createHmac } from 'node:crypto';
import { sameSecret, sha256Hex } from '@troupe/kernel';

/** Who delivers: signed as Standard Webhooks says, or the secret itself as bearer for those that cannot sign. */

export const SECRET_PREFIX = 'whsec_';
/** A signed delivery is that old at most, or that early. */
const TOLERANCE_SECONDS = 300;
const MOST_SIGNATURES = 10;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export const headerOf = (headers: Headers, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

export function isFrom(secrets: readonly string[], headers: Headers, body: string, now: Date): boolean {
  const given = headerOf(headers, 'webhook-signature');
  if (given !== undefined) return isSigned(secrets, headers, given, body, now);
  const bearer = /^Bearer (\S+)$/i.exec(headerOf(headers, 'authorization') ?? '')?.[1];
  // Hashed, so that all are of one length.
  return bearer !== undefined && secrets.some((secret) => sameSecret(sha256Hex(bearer), sha256Hex(secret)));
}

function isSigned(secrets: readonly string[], headers: Headers, given: string, body: string, now: Date): boolean {
  const id = headerOf(headers, 'webhook-id') ?? '';
  const timestamp = headerOf(headers, 'webhook-timestamp') ?? '';
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const signatures = given.split(' ').slice(0, MOST_SIGNATURES);
  return secrets.some((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    const right = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    return signatures.some((signature) => sameSecret(signature, right));
  });
}
