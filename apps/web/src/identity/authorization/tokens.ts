import { createHash } from 'node:crypto';
import type { Audit } from '@troupe/accounts';
import type { Database, SystemTx } from '@troupe/db';
import { ACCOUNT_SCOPE } from '@troupe/domain';
import { AppError, randomHex, sameSecret, sha256Hex, type Clock } from '@troupe/kernel';
import {
  deleteGrant,
  deleteToken,
  insertTokens,
  lockOwnerOfCode,
  lockToken,
  takeCode,
  tidy,
  useClient,
  useToken,
  grantName,
  type CodeRow,
  type FoundToken,
  type TokenRow,
} from './store.ts';

import type { Keys } from '../keys/service.ts';

/** Codes for tokens, refresh tokens for new ones, and the end of both. */

export interface TokensDeps {
  db: Database;
  clock: Clock;
  audit: Audit;
  keys: Pick<Keys, 'issue'>;
}

const ACCESS_S = 3600;
const REFRESH_MS = 30 * 24 * 3_600_000;
/** Live access tokens of one grant; the oldest go. */
const MOST_ACCESS = 20;
/** Refresh tokens of one grant that are known to have been used: who shows an older one is refused, and no more. */
const MOST_USED = 200;
/** A client whose answer got lost tries again at once: that is no theft. */
const LOST_MS = 30_000;

const refused = (error: string, error_description: string): AppError => new AppError(400, error, { error_description });
const badGrant = (why: string): AppError => refused('invalid_grant', why);

type Form = URLSearchParams;

function field(form: Form, name: string): string {
  const values = form.getAll(name);
  if (values.length !== 1 || values[0] === '') throw refused('invalid_request', `${name} is needed, once`);
  return values[0]!;
}

interface Given {
  userId: string;
  grantId: string;
  scopes: string[];
  refreshes: boolean;
}

export function createTokens(deps: TokensDeps) {
  const { db } = deps;
  const exchanges: Readonly<Record<string, (form: Form) => Promise<Issued | AppError>>> = {
    authorization_code: (form) => byCode(deps, form),
    refresh_token: (form) => byRefresh(deps, form),
  };
  return {
    async exchange(form: Form): Promise<Issued> {
      const kind = field(form, 'grant_type');
      const exchange = Object.hasOwn(exchanges, kind) ? exchanges[kind] : undefined;
      if (!exchange) throw refused('unsupported_grant_type', `${kind.slice(0, 100)} is not known`);
      const answer = await exchange(form);
      if (answer instanceof AppError) throw answer;
      return answer;
    },

    /** Says nothing about whether there was one. */
    async revoke(form: Form): Promise<void> {
      const token = field(form, 'token');
      await db.asSystem(async (tx) => {
        const found = await lockToken(tx, sha256Hex(token));
        const clientId = form.get('client_id');
        if (!found || (clientId !== null && clientId !== found.client_id)) return;
        if (found.kind === 'access') await deleteToken(tx, found.hash);
        else await revoked(deps, tx, found, 'The program gave it back');
      });
    },
  };
}

interface Issued {
  access_token: string;
  token_type: string;
  /** Left out of an API key: it stays. */
  expires_in?: number;
  scope: string;
  refresh_token?: string;
}

async function issue({ clock }: TokensDeps, tx: SystemTx, given: Given): Promise<Issued> {
  const { userId, grantId, scopes, refreshes } = given;
  const now = clock();
  const access = `at_${randomHex(32)}`;
  const refresh = refreshes ? `rt_${randomHex(32)}` : undefined;
  const row = (token: string, kind: 'access' | 'refresh', lifeMs: number): TokenRow => ({
    hash: sha256Hex(token),
    user_id: userId,
    grant_id: grantId,
    kind,
    scopes,
    created_at: now,
    expires_at: new Date(now.getTime() + lifeMs),
  });
  await insertTokens(tx, [
    row(access, 'access', ACCESS_S * 1000),
    ...(refresh === undefined ? [] : [row(refresh, 'refresh', REFRESH_MS)]),
  ]);
  await tidy(tx, grantId, { access: MOST_ACCESS, used: MOST_USED, now });
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_S,
    scope: scopes.join(' '),
    ...(refresh !== undefined && { refresh_token: refresh }),
  };
}

/** Answered and not thrown: what was found out must stay, though the caller is refused. */
async function revoked(
  { audit }: TokensDeps,
  tx: SystemTx,
  token: { user_id: string; grant_id: string },
  reason: string,
): Promise<AppError> {
  await deleteGrant(tx, token.grant_id);
  await audit(tx, { userId: token.user_id, action: 'client-removed', detail: { id: token.grant_id, reason } });
  return badGrant(reason);
}

async function byCode(deps: TokensDeps, form: Form): Promise<Issued | AppError> {
  const { db, clock } = deps;
  const code = field(form, 'code');
  const clientId = field(form, 'client_id');
  const verifier = field(form, 'code_verifier');
  // The newest draft of OAuth 2.1 leaves it out.
  const redirectUri = form.has('redirect_uri') ? field(form, 'redirect_uri') : undefined;
  return db.asSystem(async (tx) => {
    // What ends all that a person has given holds the same lock, and in this order.
    await lockOwnerOfCode(tx, sha256Hex(code));
    const found = await takeCode(tx, sha256Hex(code), clock());
    if (!found || found.client_id !== clientId) return badGrant('The code is not known');
    if (found.again) return revoked(deps, tx, found, 'The code was used before');
    if (found.expires_at <= clock()) return badGrant('The code is over');
    if (redirectUri !== undefined && found.redirect_uri !== redirectUri)
      return badGrant('redirect_uri is not the one that the code was for');
    const proof = createHash('sha256').update(verifier).digest('base64url');
    if (!sameSecret(proof, found.challenge)) return badGrant('code_verifier does not fit');
    await useClient(tx, clientId, clock());
    const { user_id: userId, grant_id: grantId, scopes, refreshes } = found;
    if (scopes.includes(ACCOUNT_SCOPE)) return byKey(deps, tx, found);
    return issue(deps, tx, { userId, grantId, scopes, refreshes });
  });
}

/** A key stands among the person's keys: the grant has done its work. */
async function byKey({ keys }: TokensDeps, tx: SystemTx, found: CodeRow): Promise<Issued> {
  const { user_id: userId, grant_id: grantId } = found;
  const name = await grantName(tx, grantId);
  await deleteGrant(tx, grantId);
  const key = await keys.issue(tx, { userId, name });
  return { access_token: key, token_type: 'Bearer', scope: ACCOUNT_SCOPE };
}

async function byRefresh(deps: TokensDeps, form: Form): Promise<Issued | AppError> {
  const token = field(form, 'refresh_token');
  const clientId = field(form, 'client_id');
  const wanted = form.get('scope')?.split(' ').filter(Boolean);
  return deps.db.asSystem(async (tx) => {
    const found = await lockToken(tx, sha256Hex(token));
    if (found?.kind !== 'refresh' || found.client_id !== clientId) return badGrant('The refresh token is not known');
    const problem = await refreshProblem(deps, tx, found);
    if (problem) return problem;
    const scopes = wanted ? found.scopes.filter((scope) => wanted.includes(scope)) : found.scopes;
    if (scopes.length === 0) return refused('invalid_scope', 'None of these scopes were given');
    await useToken(tx, found.hash, deps.clock());
    await useClient(tx, clientId, deps.clock());
    return issue(deps, tx, { userId: found.user_id, grantId: found.grant_id, scopes, refreshes: true });
  });
}

async function refreshProblem(deps: TokensDeps, tx: SystemTx, found: FoundToken): Promise<AppError | undefined> {
  const now = deps.clock();
  if (found.used_at !== null) {
    const isRepeat = now.getTime() - found.used_at.getTime() < LOST_MS;
    if (isRepeat) return badGrant('The refresh token was used a moment ago');
    return revoked(deps, tx, found, 'A refresh token was used twice');
  }
  return found.expires_at <= now ? badGrant('The refresh token is over') : undefined;
}
