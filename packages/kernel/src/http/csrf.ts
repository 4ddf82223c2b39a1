import { hmacHex, sameSecret } from '../secrets.ts';

/** A token that only a page of the session's own site can have read. */
export const csrfToken = (secret: string, sessionId: string): string => hmacHex(secret, `csrf ${sessionId}`);

interface CsrfInput {
  method: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  origin: string;
  secret: string;
  sessionId: string;
}

/** True when a browser sent a state-changing request from another site without the session's token. */
export function isCrossSite({ method, headers, origin, secret, sessionId }: CsrfInput): boolean {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
  const site = headers['sec-fetch-site'];
  const from = headers['origin'];
  const isForeign = (): boolean => from !== undefined && from !== origin;
  // `none` is somebody's own doing, in the address bar; then no other page is named either.
  const foreign = site === undefined || site === 'none' ? isForeign() : site !== 'same-origin';
  if (!foreign) return false;
  const token = headers['x-csrf-token'];
  return typeof token !== 'string' || !sameSecret(token, csrfToken(secret, sessionId));
}
