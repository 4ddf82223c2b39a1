import type { Accounts } from '@troupe/accounts';
import type { decideAuthorization, TypesOf } from '@troupe/contract';
import { CLIENT_SCOPES, isClientScope, OFFLINE_SCOPE, readScopes, type ClientScope } from '@troupe/domain';
import type { Database } from '@troupe/db';
import { AppError, iso, isoOrNull, newId, randomHex, sha256Hex, type Clock, type Outbound } from '@troupe/kernel';
import { audienceOf, type Places } from './audience.ts';
import { createClients } from './clients.ts';
import { isRedirect, matchesRedirect, withAnswer } from './redirects.ts';
import { agentName, countGrants, deleteGrant, insertCode, listGrants, saveGrant, type ClientRow } from './store.ts';
import { createTokens } from './tokens.ts';

/** Lets people give programs access to their agents. */

export interface AuthorizationDeps {
  db: Database;
  clock: Clock;
  accounts: Pick<Accounts, 'audit'>;
  outbound: Outbound;
  places: Omit<Places, 'origins'>;
}

export type Authorization = ReturnType<typeof createAuthorization>;

type Decision = TypesOf<typeof decideAuthorization>['body'];
export type Asked = Omit<Decision, 'approved' | 'scopes'>;

const CODE_MS = 60_000;
const MOST_GRANTS = 50;
const FIRST: ClientScope[] = ['agents:read', 'agents:talk'];

interface Checked {
  client: ClientRow;
  audience: string;
  name: string;
  scopes: ClientScope[];
  offline: boolean;
}

export function createAuthorization(deps: AuthorizationDeps) {
  const { db, clock, accounts, places } = deps;
  const { audit } = accounts;
  const clients = createClients(deps);
  const tokens = createTokens({ db, clock, audit });

  async function check(userId: string, asked: Asked, origins: readonly string[]): Promise<Checked> {
    const client = await clients.find(asked.client_id);
    if (!isRedirect(asked.redirect_uri) || !matchesRedirect(asked.redirect_uri, client.redirect_uris))
      throw new AppError(400, 'This program may not send you to the address that it names');
    const { response_type, code_challenge, code_challenge_method } = asked;
    if (response_type !== 'code' || code_challenge_method !== 'S256' || !/^[\w-]{43}$/.test(code_challenge))
      throw new AppError(400, 'The program must ask for a code, with a PKCE challenge of S256');
    const audience = audienceOf(asked.resource, { ...places, origins });
    const name = audience === 'platform' ? 'Troupe' : audience && (await agentName(db.user(userId), audience));
    if (audience === undefined || name === undefined || name === '')
      throw new AppError(400, 'The program asks for access to something that is not here');
    const words = asked.scope.split(' ').filter((word) => word !== '' && word !== OFFLINE_SCOPE);
    const scopes = words.length === 0 ? FIRST : readScopes(asked.scope);
    if (scopes.length === 0) throw new AppError(400, 'The program asks for nothing that can be given');
    return { client, audience, name, scopes, offline: asked.scope.split(' ').includes(OFFLINE_SCOPE) };
  }

  async function allow(
    userId: string,
    asked: Asked,
    { client, audience, offline }: Checked,
    scopes: ClientScope[],
    ip: string,
  ) {
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
  }

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
        scopes: scopes.map((scope) => ({ scope, text: CLIENT_SCOPES[scope] })),
      };
    },

    async decide(
      userId: string,
      { approved, scopes: chosen, ...asked }: Decision,
      { origins, issuer, ip }: { origins: readonly string[]; issuer: string; ip: string },
    ) {
      const checked = await check(userId, asked, origins);
      const back = { iss: issuer, state: asked.state };
      const scopes = checked.scopes.filter((scope) => chosen.filter(isClientScope).includes(scope));
      if (!approved || scopes.length === 0)
        return { redirect: withAnswer(asked.redirect_uri, { error: 'access_denied', ...back }) };
      const code = await allow(userId, asked, checked, scopes, ip);
      return { redirect: withAnswer(asked.redirect_uri, { code, ...back }) };
    },

    async list(userId: string) {
      const rows = await listGrants(db.user(userId));
      return rows.map((row) => ({
        id: row.id,
        client: row.client_id,
        name: row.client_name,
        audience: row.audience,
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

/** Where a person is sent, in words: a host, or the program's own scheme. */
function hostOf(redirect: string): string {
  const { protocol, host } = new URL(redirect);
  return /^https?:$/.test(protocol) ? host : `${protocol}//${host}`;
}
