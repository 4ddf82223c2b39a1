import type { web, TypesOf } from '@troupe/contract';
import { ACCOUNT_SCOPE, OFFLINE_SCOPE, readScopes, type ClientScope, type GivenScope } from '@troupe/domain';
import type { Database } from '@troupe/db';
import { AppError } from '@troupe/kernel';
import { audienceOf, type Places } from './audience.ts';
import type { Clients } from './clients.ts';
import { isLocal, isRedirect, matchesRedirect } from './redirects.ts';
import { agentName, type ClientRow } from './store.ts';

/** What a program asks a person for: checked before anybody is asked, and again when she has answered. */

type Decision = TypesOf<typeof web.authorization.decide>['body'];
export type Asked = Omit<Decision, 'approved' | 'scopes'>;

export interface Checked {
  client: ClientRow;
  audience: string;
  name: string;
  scopes: GivenScope[];
  offline: boolean;
}

const FIRST: ClientScope[] = ['agents:read', 'agents:talk'];

function scopesOf({ scope, redirect_uri: redirect }: Asked, words: readonly string[], audience: string): GivenScope[] {
  if (words.includes(ACCOUNT_SCOPE)) {
    if (audience !== 'platform' || !isLocal(redirect))
      throw new AppError(400, 'Only a program on your own computer may ask for a key of yours');
    return [ACCOUNT_SCOPE];
  }
  const scopes = words.every((word) => word === OFFLINE_SCOPE) ? FIRST : readScopes(scope);
  if (scopes.length === 0) throw new AppError(400, 'The program asks for nothing that can be given');
  return scopes;
}

export const createCheck =
  ({ db, clients, places }: { db: Database; clients: Clients; places: Omit<Places, 'origins'> }) =>
  async (userId: string, asked: Asked, origins: readonly string[]): Promise<Checked> => {
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
    const words = asked.scope.split(' ').filter((word) => word !== '');
    const scopes = scopesOf(asked, words, audience);
    return { client, audience, name, scopes, offline: words.includes(OFFLINE_SCOPE) };
  };
