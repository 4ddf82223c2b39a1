import { createHmac } from 'node:crypto';

export interface SessionClaims {
  sub: string;
  fid: string;
  address: string | null;
  /** The issuer of the identity token says that the address is the person's own. */
  verified: boolean;
  /** Seconds. */
  iat: number;
  exp: number;
}

/** `<base64url of the claims>.<base64url of their HMAC-SHA256>` */
export function signSession(secret: string, claims: SessionClaims): string {
  const data = Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${data}.${createHmac('sha256', secret).update(data).digest('base64url')}`;
}
