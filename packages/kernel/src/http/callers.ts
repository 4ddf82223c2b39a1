import type { Auth } from '@troupe/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { countedAddress } from '../addresses.ts';
import { AppError } from '../errors.ts';
import type { Counters } from '../counters.ts';
import { sha256Hex } from '../secrets.ts';
import { bearerToken, cookiesOf, KEY_PREFIX, SESSION_COOKIE, shownKey } from './guards.ts';
import type { LimitCheck } from './limits.ts';
import type { Identity, User } from './principal.ts';

/**
 * Whom a limit counts. People behind one address share nothing but that: who shows a session or a key that is valid is
 * counted by account, everybody else by address. Finding out is work, too, and is bounded by address for whoever has not
 * been found yet.
 */
export interface Callers {
  /** Who showed this the last time that it was checked. Nothing is let in by it. */
  lastSeen: (credential: string) => string | undefined;
  remember: (credential: string, whom: string) => void;
  forget: (credential: string) => void;
}

const REMEMBERED = 10_000;
/** Credentials from one address, in a minute, that are looked up before they count for the address. */
const UNPROVEN = 600;
const MINUTE_MS = 60_000;

export function createCallers(): Callers {
  const seen = new Map<string, string>();
  return {
    lastSeen: (credential) => seen.get(credential),
    remember(credential, whom) {
      seen.set(credential, whom);
      if (seen.size <= REMEMBERED) return;
      for (const oldest of seen.keys()) return void seen.delete(oldest);
    },
    forget: (credential) => void seen.delete(credential),
  };
}

const BY_ACCOUNT: ReadonlySet<Auth> = new Set(['session', 'cookie', 'optional', 'admin', 'internalOrKey', 'identity']);

/** What a request shows of its user, hashed; undefined: nothing. */
function shownCredential(request: FastifyRequest, auth: Auth): string | undefined {
  const key = auth === 'internalOrKey' ? shownKey(request) : bearerToken(request);
  const shown = key?.startsWith(KEY_PREFIX) ? key : cookiesOf(request)[SESSION_COOKIE];
  return shown ? sha256Hex(shown) : undefined;
}

/** The account that a guard has found by a session or a key; undefined: it went by something else. */
function provenAccount(principal: unknown): string | undefined {
  const found = principal as Partial<User & Identity> | null | undefined;
  if (!found?.id || (found.sessionId === undefined && !found.byKey)) return undefined;
  return `user:${found.countedAs ?? found.id}`;
}

export interface AdmissionDeps {
  auth: Auth;
  counters: Counters;
  callers: Callers;
  limit: LimitCheck;
  /** Whom the platform says that a request counts for. */
  told: (request: FastifyRequest) => string | undefined;
  clientAddress: (request: FastifyRequest) => string;
  identify: (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;
}

/** Counts a request of a limited route and finds out who sent it, in the order that costs least. */
export function createAdmission({ auth, counters, callers, limit, told, clientAddress, identify }: AdmissionDeps) {
  const countThenIdentify = async (request: FastifyRequest, reply: FastifyReply, whom: string): Promise<void> => {
    await limit(request, reply, whom);
    await identify(request, reply);
  };

  async function seenBefore(request: FastifyRequest, reply: FastifyReply, credential: string, whom: string) {
    await limit(request, reply, whom);
    try {
      await identify(request, reply);
    } catch (error) {
      // What has ended must not go on to use up its owner's share.
      if (error instanceof AppError && error.status === 401) callers.forget(credential);
      throw error;
    }
    if (provenAccount(request.principal) !== whom) callers.forget(credential);
  }

  async function unseen(request: FastifyRequest, reply: FastifyReply, credential: string): Promise<void> {
    const address = clientAddress(request);
    const { count } = await counters.hit(`unproven:${countedAddress(address)}`, MINUTE_MS);
    if (count > UNPROVEN) return countThenIdentify(request, reply, address);
    try {
      await identify(request, reply);
    } catch (error) {
      await limit(request, reply, address);
      throw error;
    }
    const account = provenAccount(request.principal);
    if (account !== undefined) callers.remember(credential, account);
    await limit(request, reply, account ?? address);
  }

  return (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const whom = told(request);
    if (whom !== undefined) return countThenIdentify(request, reply, whom);
    const credential = BY_ACCOUNT.has(auth) ? shownCredential(request, auth) : undefined;
    if (credential === undefined) return countThenIdentify(request, reply, clientAddress(request));
    const account = callers.lastSeen(credential);
    return account === undefined ? unseen(request, reply, credential) : seenBefore(request, reply, credential, account);
  };
}
