import { normalEmail, type Accounts, type Origin, type ProviderTokens } from '@troupe/accounts';
import type { SignInError } from '@troupe/contract';
import type { Database, SystemTx } from '@troupe/db';
import { createCipher, randomHex, sameSecret, type Clock, type Cookie, type Log } from '@troupe/kernel';
import type { Joining } from '../joining/service.ts';
import type { FailedSignIns } from '../failed-sign-ins.ts';
import type { Profile, Provider, Ticket } from './provider.ts';
import { lockUser } from './store.ts';

export type ProviderName = 'idp1' | 'idp2';

/** Where the browser is sent, and with which cookies. */
export interface Way {
  location: string;
  cookies: Cookie[];
}

export interface CallbackQuery {
  code?: string;
  state?: string;
  error?: string;
}

interface OAuthDeps {
  db: Database;
  accounts: Accounts;
  joining: Joining;
  /** Undefined: not configured. */
  providers: Record<ProviderName, Provider | undefined>;
  failedSignIns: FailedSignIns;
  sessionSecret: string;
  /** The public address is https. */
  secure: boolean;
  clock: Clock;
  log: Log;
}

const LIFE_S = 600;
const LIFE_MS = LIFE_S * 1000;

/** A sign-in that ends with one of the contract's words. */
class Refused extends Error {
  readonly code: SignInError;
  /** Who was refused, where that is known. */
  readonly userId: string | undefined;
  constructor(code: SignInError, { cause, userId }: { cause?: unknown; userId?: string } = {}) {
    super(code, { cause });
    this.code = code;
    this.userId = userId;
  }
}

const orRefuse = async <T>(code: SignInError, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (cause) {
    throw new Refused(code, { cause });
  }
};

export type OAuth = ReturnType<typeof createOAuth>;

export function createOAuth(deps: OAuthDeps) {
  const { db, providers, failedSignIns, log } = deps;
  const tickets = createTickets(deps);
  const signIn = createSignIn(deps);

  function configured(name: ProviderName): Provider {
    const provider = providers[name];
    if (!provider) throw new Refused('IdpNotConfigured');
    return provider;
  }

  /** Never a page of JSON: whatever goes wrong is a word for the sign-in page. */
  async function safely(name: ProviderName, cookies: Cookie[], work: () => Promise<Way>): Promise<Way> {
    try {
      return await work();
    } catch (error) {
      const code = error instanceof Refused ? error.code : 'IdpAuthError';
      const cause: unknown = error instanceof Refused ? error.cause : error;
      if (cause !== undefined) log.warn({ err: cause, provider: name, code }, 'a sign-in at a provider failed');
      return { location: `/login?error=${code}`, cookies };
    }
  }

  return {
    configured: (): Record<ProviderName, boolean> => ({
      idp1: providers.idp1 !== undefined,
      idp2: providers.idp2 !== undefined,
    }),
    start: (name: ProviderName): Promise<Way> =>
      safely(name, [], async () => {
        const provider = configured(name);
        const ticket = { state: randomHex(16), verifier: randomHex(32) };
        return { location: await provider.authorizeUrl(ticket), cookies: [tickets.give(name, ticket)] };
      }),
    finish: (
      name: ProviderName,
      { code, state, error }: CallbackQuery,
      cookies: Record<string, string | undefined>,
      origin: Origin,
    ): Promise<Way> =>
      safely(name, [tickets.cleared(name)], async () => {
        const provider = configured(name);
        if (error) throw new Refused(error === 'access_denied' ? 'AccessDenied' : 'IdpAuthFailed');
        const ticket = tickets.read(name, cookies);
        if (!code || !state || !ticket || !sameSecret(state, ticket.state)) throw new Refused('IdpAuthFailed');
        const tokens = await orRefuse('IdpTokenFailed', provider.exchange(code, ticket.verifier));
        const profile = await orRefuse('IdpAuthError', provider.profile(tokens.access_token));
        const { cookie, step } = await db
          .asSystem((tx) => signIn(tx, name, profile, tokens, origin))
          .catch(async (error: unknown) => {
            if (error instanceof Refused && error.userId !== undefined)
              await failedSignIns({ userId: error.userId, method: name, reason: 'disabled', ip: origin.ip });
            throw error;
          });
        return { location: step ? '/login/second-step' : '/dashboard', cookies: [tickets.cleared(name), cookie] };
      }),
  };
}

/** State and verifier travel with the browser, sealed: another browser has none, and nobody can make one. */
function createTickets({ sessionSecret, secure, clock }: OAuthDeps) {
  const cipher = createCipher(sessionSecret, 'oauth');
  const cookie = (name: ProviderName, value: string, maxAge: number): Cookie => ({
    name: `svc-oauth-${name}`,
    value,
    maxAge,
    httpOnly: true,
    sameSite: 'lax',
    path: `/api/auth/${name}`,
    secure,
  });
  return {
    give(name: ProviderName, ticket: Ticket): Cookie {
      const sealed = cipher.seal(JSON.stringify({ ...ticket, until: clock().getTime() + LIFE_MS }), name);
      return cookie(name, sealed.toString('base64url'), LIFE_S);
    },
    cleared: (name: ProviderName): Cookie => cookie(name, '', 0),
    read(name: ProviderName, cookies: Record<string, string | undefined>): Ticket | null {
      try {
        const sealed = Buffer.from(cookies[`svc-oauth-${name}`] ?? '', 'base64url');
        const { until, ...ticket } = JSON.parse(cipher.open(sealed, name)) as Ticket & { until: number };
        return until > clock().getTime() ? ticket : null;
      } catch {
        // Not one of ours: the same as none.
        return null;
      }
    },
  };
}

function createSignIn({ accounts, joining }: OAuthDeps) {
  const { users, links, sessions, verification, prove } = accounts;

  async function userFor(tx: SystemTx, name: ProviderName, { subject, email, name: called }: Profile, ip: string) {
    const link = await links.find(tx, name, subject);
    if (link) return lockUser(tx, link.userId);
    if (email === null) throw new Refused('IdpNoEmail');
    const known = await users.byEmail(tx, email);
    if (!known) await orRefuse('AccessDenied', joining.admit(tx, { invited: false }));
    const created = known ? null : await users.create(tx, { email, name: called, verified: true });
    if (created) await joining.begin(tx, created);
    const found = created ?? (await users.byEmail(tx, email));
    const user = found && (await lockUser(tx, found.id));
    if (user && user.email !== normalEmail(email)) throw new Error('the address changed hands during the sign-in');
    if (!user || created || user.email_verified_at !== null || !verification.required) return user;
    if (name === 'idp2' && user.idp2_disabled_at !== null) return user;
    // Somebody may have registered the address before its owner came.
    await prove(tx, { userId: user.id, by: name, ip });
    return user;
  }

  return async (tx: SystemTx, name: ProviderName, profile: Profile, tokens: ProviderTokens, origin: Origin) => {
    const user = await userFor(tx, name, profile, origin.ip);
    if (!user) throw new Error('the user went away during the sign-in');
    if (name === 'idp2' && user.idp2_disabled_at !== null) throw new Refused('AccessDenied', { userId: user.id });
    const link = await links.find(tx, name, profile.subject);
    // A refresh token is handed out once; later answers come without.
    const kept = link && (await links.tokens(tx, link.id));
    const saved = await links.save(tx, {
      userId: user.id,
      provider: name,
      subject: profile.subject,
      tokens: { ...(kept?.['refresh_token'] === undefined ? {} : { refresh_token: kept['refresh_token'] }), ...tokens },
    });
    // Two callbacks at once, between which the provider changed the address: one person has one account.
    if (saved.userId !== user.id) throw new Refused('IdpAuthFailed');
    return sessions.signIn(tx, user.id, name, origin);
  };
}
