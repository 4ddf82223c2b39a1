import { AppError, type Clock, type Counters, type Outbound } from '@troupe/kernel';
import type { JWTPayload } from 'jose';
import { askObject } from '../ask-json.ts';
import { createProviderKeys, KeysUnavailable } from '../provider-keys.ts';

export interface FederatedIdentity {
  subject: string;
  fid: string;
  /** Lower-case addresses that the issuer says are the person's own. */
  addresses: string[];
}

export interface IdentityTokenDeps {
  issuer: string;
  audience: string;
  outbound: Outbound;
  counters: Counters;
  clock: Clock;
}

/** Public keys only: a shared secret proves nothing about who signed. */
const ALGORITHMS = new Set(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519']);

const invalid = (cause?: unknown) => new AppError(401, 'Invalid identity token', {}, { cause });

/** Reads tokens of the configured issuer; throws 401 for any other, 503 when the issuer's keys cannot be read. */
export function createIdentityTokens({ issuer, audience, outbound, counters, clock }: IdentityTokenDeps) {
  const keys = createProviderKeys({
    name: 'federated',
    outbound,
    counters,
    clock,
    /** From the discovery document; issuers without one keep their keys at the usual place. */
    async locate() {
      const document = await askObject(outbound, `${issuer}/.well-known/openid-configuration`).catch(() => ({}));
      const { jwks_uri: address } = document as { jwks_uri?: unknown };
      return typeof address === 'string' ? address : `${issuer}/.well-known/jwks.json`;
    },
  });

  return async (token: string): Promise<FederatedIdentity> => {
    const { decodeProtectedHeader, jwtVerify } = await import('jose');
    try {
      const { alg, kid } = decodeProtectedHeader(token);
      if (typeof kid !== 'string' || alg === undefined || !ALGORITHMS.has(alg)) throw new Error('no usable key');
      const key = await keys.find(kid, alg);
      if (!key) throw new Error('an unknown key');
      const { payload } = await jwtVerify(token, key, {
        algorithms: [alg],
        issuer: [issuer, `${issuer}/`],
        audience,
        requiredClaims: ['sub', 'exp'],
        currentDate: clock(),
      });
      return identityOf(payload);
    } catch (error) {
      if (error instanceof KeysUnavailable) throw new AppError(503, 'Verification unavailable', {}, { cause: error });
      throw invalid(error);
    }
  };
}

function identityOf(payload: JWTPayload): FederatedIdentity {
  const subject = textOf(payload.sub);
  if (subject === '') throw new Error('no subject');
  const addresses = [payload['address'], payload['addresses']].flat().map(textOf).filter(Boolean);
  return { subject, fid: textOf(payload['fid']) || subject, addresses: addresses.map((entry) => entry.toLowerCase()) };
}

/** Some issuers number their people. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : Number.isSafeInteger(value) ? String(value) : '';
