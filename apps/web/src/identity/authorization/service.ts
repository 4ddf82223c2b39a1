import type { Accounts } from '@troupe/accounts';
import type { web, TypesOf } from '@troupe/contract';
import { scopeText, type GivenScope } from '@troupe/domain';
import type { Database } from '@troupe/db';
import {
  AppError,
  iso,
  isoOrNull,
  newId,
  randomHex,
  sha256Hex,
  type Clock,
  type Outbound,
  type User,
} from '@troupe/kernel';
import type { Places } from './audience.ts';
import { createClients } from './clients.ts';
import { withAnswer } from './redirects.ts';
import { createCheck, type Asked, type Checked } from './request.ts';
import { countGrants, deleteGrant, insertCode, listGrants, saveGrant } from './store.ts';
import { createTokens } from './tokens.ts';
import type { Keys } from '../keys/service.ts';

/** Lets people give programs access to their agents. */

export interface AuthorizationDeps {
  db: Database;
  clock: Clock;
  accounts: Pick<Accounts, 'audit' | 'confirmation'>;
  outbound: Outbound;
  keys: Pick<Keys, 'issue'>;
  places: Omit<Places, 'origins'>;
}

export type AuthorizationService = ReturnType<typeof createAuthorization>;

type Decision = TypesOf<typeof web.authorization.decide>['body'];

const CODE_MS = 60_000;
const MOST_GRANTS = 50;

export function createAuthorization(deps: AuthorizationDeps) {
  const { db, clock, places, keys } = deps;
  const { audit } = deps.accounts;
  const clients = createClients(deps);
  const tokens = createTokens({ db, clock, audit, keys });
  const [check, allow] = [createCheck({ db, clients, places }), createAllow(deps)] as const;

  return {
    register: clients.register,
    exchange: tokens.exchange,
    revoke: tokens.revoke,

    async describe(userId: string, asked: Asked, origins: readonly string[]) {
      const { client, audience, name, scopes } = await check(userId, asked, origins);
      return {
        client: {
          name: client.name,
          host: client.described ? new URL(client.id).host : null,
          redirectHost: hostOf(asked.redirect_uri),
        },
        audience: { kind: audience === 'platform' ? ('platform' as const) : ('agent' as const), name },
        scopes: scopes.map((scope) => ({ scope, text: scopeText(scope) })),
      };
    },

    async decide(
      user: Pick<User, 'id' | 'sessionId'>,
      { approved, scopes: chosen, ...asked }: Decision,
      { origins, issuer, ip }: { origins: readonly string[]; issuer: string; ip: string },
    ) {
      const checked = await check(user.id, asked, origins);
      const back = { iss: issuer, state: asked.state };
      const scopes = checked.scopes.filter((scope) => chosen.includes(scope));
      if (!approved || scopes.length === 0)
        return { redirect: withAnswer(asked.redirect_uri, { error: 'access_denied', ...back }) };
      const code = await allow(user, { asked, checked, scopes, ip });
      return { redirect: withAnswer(asked.redirect_uri, { code, ...back }) };
    },

    async list(userId: string) {
      const rows = await listGrants(db.user(userId));
      return rows.map((row) => ({
        id: row.id,
        client: row.client_id,
        name: row.client_name,
        audience: row.audience,
        agent: row.agent,
        scopes: row.scopes,
        createdAt: iso(row.created_at),
        lastUsed: isoOrNull(row.used_at),
      }));
    },

    remove: (userId: string, id: string, ip: string) =>
      db.asUser(userId, async (tx) => {
        if (!(await deleteGrant(tx, id))) throw new AppError(404, 'Authorization not found');
        await audit(tx, { userId, action: 'client-removed', detail: { id }, ip });
      }),
  };
}

interface Allowed {
  asked: Asked;
  checked: Checked;
  scopes: GivenScope[];
  ip: string;
}

/** A grant, or the one that is there with new scopes, and a code for it. */
function createAllow({ db, clock, accounts: { audit, confirmation } }: AuthorizationDeps) {
  return async (user: Pick<User, 'id' | 'sessionId'>, { asked, checked, scopes, ip }: Allowed): Promise<string> => {
    const userId = user.id;
    const { client, audience, offline } = checked;
    // What a program is given outlives the session, as a key does.
    await confirmation.requireOfCareful(db.system, user);
    const code = `ac_${randomHex(32)}`;
    const now = clock();
    await db.asUser(userId, async (tx) => {
      const id = newId();
      const count = await countGrants(tx, userId);
      const about = { client_id: client.id, client_name: client.name, audience, scopes, created_at: now };
      const grantId = await saveGrant(tx, { id, user_id: userId, ...about });
      // One that was there before is given again.
      if (grantId === id && count >= MOST_GRANTS)
        throw new AppError(429, `Too many programs (max ${MOST_GRANTS}): remove one first`);
      await insertCode(tx, {
        hash: sha256Hex(code),
        user_id: userId,
        grant_id: grantId,
        client_id: client.id,
        redirect_uri: asked.redirect_uri,
        challenge: asked.code_challenge,
        scopes,
        refreshes: offline || client.refreshes,
        expires_at: new Date(now.getTime() + CODE_MS),
      });
      const detail = { id: grantId, name: client.name, audience, scopes };
      await audit(tx, { userId, action: 'client-allowed', detail, ip });
    });
    return code;
  };
}

/** Where a person is sent, in words: a host, or the program's own scheme. */
function hostOf(redirect: string): string {
  const { protocol, host } = new URL(redirect);
  return /^https?:$/.test(protocol) ? host : `${protocol}//${host}`;
}
