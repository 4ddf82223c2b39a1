import { createHash } from 'node:crypto';
import type { ProviderTokens } from '@troupe/accounts';
import { isEmail } from '@troupe/contract';
import type { Outbound } from '@troupe/kernel';
import { askObject } from '../ask-json.ts';

/** Who somebody is at a provider. */
export interface Profile {
  subject: string;
  /** Only an address that the provider has verified. */
  email: string | null;
  name: string | undefined;
}

export interface Ticket {
  state: string;
  /** PKCE: its hash goes with the browser, itself with the code. */
  verifier: string;
}

/** An identity provider. Everything throws when the provider does not answer, or answers nonsense. */
export interface Provider {
  authorizeUrl: (ticket: Ticket) => Promise<string>;
  exchange: (code: string, verifier: string) => Promise<ProviderTokens & { access_token: string }>;
  profile: (accessToken: string) => Promise<Profile>;
}

export interface ProviderOptions {
  clientId: string;
  clientSecret: string;
  redirectUri: string;
  outbound: Outbound;
}

/** How the client proves itself: in the Authorization header, or in the form. */
export type ClientProof = 'basic' | 'post';

/** Some providers say no with 200 and a field `error`. */
export async function askTokens(
  { outbound, clientId, clientSecret, redirectUri }: ProviderOptions,
  url: string,
  { code, verifier, proof }: { code: string; verifier: string; proof: ClientProof },
): Promise<ProviderTokens & { access_token: string }> {
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  const answer = await askObject(outbound, url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(proof === 'basic' ? { authorization: `Basic ${basic}` } : {}),
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      ...(proof === 'post' ? { client_id: clientId, client_secret: clientSecret } : {}),
      redirect_uri: redirectUri,
      code,
      code_verifier: verifier,
    }).toString(),
  });
  const token = answer['access_token'];
  if (typeof token !== 'string' || token === '') throw new Error('the provider gave no access token');
  return { ...answer, access_token: token };
}

export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

export const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });

export function subjectOf(value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string' && value !== '' && value.length <= 255) return value;
  throw new Error('the provider does not say who it is');
}

export const emailOf = (value: unknown): string | null =>
  typeof value === 'string' && isEmail(value.trim()) ? value.trim() : null;

/** As people name themselves elsewhere, without what would break a line. */
export function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return (
    value
      .replace(/\p{C}+/gu, ' ')
      .trim()
      .slice(0, 100)
      .trim() || undefined
  );
}
