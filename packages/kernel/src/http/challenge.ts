/** What a client is told that has no token, or not one that does (RFC 6750, 9728): where to get one, and for what. */

export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

/** Scopes that are asked for unless a call needs others. */
const FIRST_SCOPES = ['agents:read', 'agents:talk'];

interface Challenge {
  origin: string;
  /** Of the resource. */
  path: string;
  /** A token was shown, and does not do. */
  shown: boolean;
  /** It lacks these scopes. */
  lacks?: readonly string[];
}

export function challengeFor({ origin, path, shown, lacks }: Challenge): string {
  const error = lacks ? 'insufficient_scope' : shown ? 'invalid_token' : undefined;
  const parts = {
    ...(error !== undefined && { error }),
    resource_metadata: `${origin}${RESOURCE_METADATA}${path}`,
    scope: (lacks ?? FIRST_SCOPES).join(' '),
  };
  const text = Object.entries(parts).map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, '')}"`);
  return `Bearer ${text.join(', ')}`;
}
