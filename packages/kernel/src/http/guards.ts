import { parseCookie } from 'cookie';
import type { Auth } from '@troupe/contract';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { hmacHex, sameSecret } from '../secrets.ts';
import { challengeFor } from './challenge.ts';
import { isCrossSite } from './csrf.ts';
import { headerText, headerValue } from './header-text.ts';
import type { Authenticator, Identity, Principals, User } from './principal.ts';

export const SESSION_COOKIE = 'svc-session';
export const KEY_PREFIX = 'sk_';
const HEADER_LIFE_MS = 5 * 60_000;

export interface GuardDeps {
  /** Undefined: not configured, and guarded routes answer 500. */
  internalKey: string | undefined;
  sessionSecret: string;
  /** Origin of BASE_URL. */
  origin: string;
  /** The same as this client sees it. */
  originFor: (request: FastifyRequest) => string;
  loopback: boolean;
  accounts?: Authenticator;
}

export interface GuardTexts {
  unauthorized: string;
}

export type Guards = {
  [A in Auth]: (request: FastifyRequest, texts: GuardTexts) => Promise<Principals[A]> | Principals[A];
};

/** The bearer token of a request, where an endpoint checks it itself. */
export function bearerToken({
  headers,
}: {
  headers: Readonly<Record<string, string | string[] | undefined>>;
}): string | null {
  const value = headers['authorization'];
  return typeof value === 'string' && value.startsWith('Bearer ') ? value.slice('Bearer '.length).trim() : null;
}

/** For models: clients of one protocol show their key as bearer, those of another in a header of their own. */
export function shownKey(request: Parameters<typeof bearerToken>[0]): string | null {
  const own = request.headers['x-api-key'];
  return bearerToken(request) ?? (typeof own === 'string' && own !== '' ? own.trim() : null);
}

/** Who asks, by cookie or key. */
function createCallers({ sessionSecret, origin, accounts }: GuardDeps) {
  async function byCookie(request: FastifyRequest): Promise<User | null> {
    const token = cookiesOf(request)[SESSION_COOKIE];
    const user = token ? ((await accounts?.bySession(token)) ?? null) : null;
    if (
      user?.sessionId &&
      isCrossSite({
        method: request.method,
        headers: request.headers,
        origin,
        secret: sessionSecret,
        sessionId: user.sessionId,
      })
    )
      throw new AppError(403, 'Invalid CSRF token');
    return user;
  }

  async function byKey(request: FastifyRequest, key = bearerToken(request)): Promise<User | null> {
    return key?.startsWith(KEY_PREFIX) ? ((await accounts?.byKey(key)) ?? null) : null;
  }

  const byAccessToken = async (token: string | null): Promise<User | null> =>
    token === null ? null : ((await accounts?.byAccessToken?.(token)) ?? null);

  const byAnyKey = async (request: FastifyRequest, key: string): Promise<User | null> =>
    (await byKey(request, key)) ?? (await accounts?.byAgentKey?.(key, request)) ?? null;

  const anyUser = async (request: FastifyRequest) => (await byKey(request)) ?? (await byCookie(request));

  return { byCookie, byKey, byAnyKey, byAccessToken, anyUser };
}

/** A program of a person's; one that has no token is told where to get one. */
const clientGuard =
  ({ originFor }: GuardDeps, { byKey, byAccessToken }: ReturnType<typeof createCallers>): Guards['client'] =>
  async (request, { unauthorized }) => {
    const key = shownKey(request);
    const user = key?.startsWith(KEY_PREFIX) ? await byKey(request, key) : await byAccessToken(key);
    if (user) return user;
    const challenge = challengeFor({ origin: originFor(request), path: pathOf(request), shown: key !== null });
    throw new AppError(401, unauthorized, {}, { headers: { 'www-authenticate': challenge } });
  };

export function createGuards(deps: GuardDeps): Guards {
  const { internalKey, sessionSecret, loopback } = deps;
  const isInternal = (request: FastifyRequest, key = bearerToken(request)): boolean => {
    return key !== null && internalKey !== undefined && sameSecret(key, internalKey);
  };

  const callers = createCallers(deps);
  const { byCookie, byKey, byAnyKey, anyUser } = callers;

  async function required(user: Promise<User | null>, { unauthorized }: GuardTexts): Promise<User> {
    const found = await user;
    if (!found) throw new AppError(401, unauthorized);
    return found;
  }

  function internal(request: FastifyRequest, { unauthorized }: GuardTexts, key = bearerToken(request)): undefined {
    if (internalKey === undefined) throw new AppError(500, 'Server misconfigured');
    if (key === null) throw new AppError(401, unauthorized);
    if (!isInternal(request, key)) throw new AppError(403, 'Forbidden');
  }

  return {
    none: () => undefined,
    optional: anyUser,
    session: (request, texts) => required(anyUser(request), texts),
    cookie: (request, texts) => required(byCookie(request), texts),
    async admin(request) {
      const user = await anyUser(request);
      if (!user?.isAdmin) throw new AppError(403, 'Admin access required.', { code: 'ADMIN_REQUIRED' });
      return user;
    },
    internal: (request, texts) => internal(request, texts),
    internalOrKey(request, texts) {
      const key = shownKey(request);
      if (key?.startsWith(KEY_PREFIX)) return required(byAnyKey(request, key), texts);
      internal(request, texts, key);
      return null;
    },
    client: clientGuard(deps, callers),
    userContext(request, { unauthorized }) {
      if (!isInternal(request)) throw new AppError(401, unauthorized);
      const id = header(request, 'x-user-id');
      const email = header(request, 'x-user-email');
      if (!id || !email) throw new AppError(401, 'User context required');
      return { id, email };
    },
    async identity(request) {
      const user = await byKey(request);
      if (user)
        return { id: user.id, email: user.email, role: user.isAdmin ? 'admin' : null, verified: true, byKey: true };
      const claimed = claimedIdentity(request);
      const signed = claimed.id !== null && hasValidSignature(request, sessionSecret, claimed);
      if (!signed && !loopback)
        return { ...claimed, id: 'anonymous', email: null, role: null, verified: false, byKey: false };
      return { ...claimed, id: claimed.id ?? 'anonymous', verified: signed, byKey: false };
    },
  };
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? '';

export const cookiesOf = (request: FastifyRequest): Record<string, string | undefined> =>
  parseCookie(request.headers.cookie ?? '');

function header(request: FastifyRequest, name: string): string | null {
  return headerText(request.headers[name]) ?? null;
}

type Claimed = { id: string | null } & Pick<Identity, 'email' | 'role'>;

const claimedIdentity = (request: FastifyRequest): Claimed => ({
  id: header(request, 'x-user-id'),
  email: header(request, 'x-user-email'),
  role: header(request, 'x-user-role'),
});

const signedText = ({ id, email, role }: Claimed, time: string): string => JSON.stringify([id, email, role, time]);

/** The headers with which one service tells another who the user is, and proves it. */
export function identityHeaders(
  secret: string,
  user: { id: string; email: string; isAdmin: boolean },
  now: Date,
): Record<string, string> {
  const time = String(now.getTime());
  const claimed: Claimed = { id: user.id, email: user.email, role: user.isAdmin ? 'admin' : 'user' };
  return {
    'x-user-id': user.id,
    'x-user-email': headerValue(user.email),
    'x-user-role': claimed.role ?? '',
    'x-user-signature': `${time}.${hmacHex(secret, signedText(claimed, time))}`,
  };
}

/** Whether a service of the platform sent this request: it carries identity headers that only the platform can sign. */
export const isSigned = (request: FastifyRequest, secret: string): boolean =>
  hasValidSignature(request, secret, claimedIdentity(request));

function hasValidSignature(request: FastifyRequest, secret: string, claimed: Claimed): boolean {
  const [time = '', signature = ''] = (header(request, 'x-user-signature') ?? '').split('.');
  const fresh = Math.abs(Date.now() - Number(time)) < HEADER_LIFE_MS;
  return fresh && sameSecret(signature, hmacHex(secret, signedText(claimed, time)));
}
