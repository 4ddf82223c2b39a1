import { AppError, type Outbound, type Counters, type Clock } from '@troupe/kernel';
import { askObject } from '../ask-json.ts';
import { createProviderKeys, KeysUnavailable } from '../provider-keys.ts';

/** What a security event token says. */
export interface SecurityToken {
  jti: string;
  events: Record<string, unknown>;
}

interface TokenDeps {
  /** Without a slash at its end; tokens have exactly one. */
  issuer: string;
  /** Client ids, any of which a token may be for. */
  audiences: string[];
  outbound: Outbound;
  counters: Counters;
  clock: Clock;
}

const invalid = (cause?: unknown) => new AppError(400, 'Invalid token', {}, { cause });

const ALGORITHM = 'RS256';
const LONGEST_ID = 255;

/** Throws 400 for anything that is not a token of the provider for us; 503 when that cannot be found out. */
export function createTokenReader({ issuer, audiences, outbound, counters, clock }: TokenDeps) {
  const expected = `${issuer}/`;
  const keys = createProviderKeys({
    name: 'risc',
    outbound,
    counters,
    clock,
    async locate() {
      const { jwks_uri: address } = await askObject(outbound, `${issuer}/.well-known/risc-configuration`);
      if (typeof address !== 'string') throw new Error('the configuration document names no keys');
      return address;
    },
  });

  /** Issuer and audience come first: whoever is not for us costs no request to the provider. */
  async function keyNameOf(token: string): Promise<string> {
    const { decodeJwt, decodeProtectedHeader } = await import('jose');
    const { iss, aud } = decodeJwt(token);
    if (iss !== expected) throw new Error('another issuer');
    if (![aud].flat().some((name) => name !== undefined && audiences.includes(name)))
      throw new Error('another audience');
    const { alg, kid } = decodeProtectedHeader(token);
    if (alg !== ALGORITHM || typeof kid !== 'string') throw new Error('not a key of the provider');
    return kid;
  }

  return async (given: string): Promise<SecurityToken> => {
    const token = given.trim();
    if (token === '') throw new AppError(400, 'Empty body');
    try {
      const key = await keys.find(await keyNameOf(token), ALGORITHM);
      const { jwtVerify } = await import('jose');
      if (!key) throw new Error('an unknown key');
      const { payload } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        issuer: expected,
        audience: audiences,
        currentDate: clock(),
      });
      const { jti, events } = payload as { jti?: unknown; events?: unknown };
      if (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_ID) throw new Error('no id');
      if (typeof events !== 'object' || events === null || Array.isArray(events)) throw new Error('no events');
      return { jti, events: events as Record<string, unknown> };
    } catch (error) {
      // The sender must try again: an event that is dropped now is never acted on.
      if (error instanceof KeysUnavailable) throw new AppError(503, 'Signing keys unavailable', {}, { cause: error });
      throw invalid(error);
    }
  };
}
