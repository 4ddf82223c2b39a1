import type { Clock } from '@troupe/kernel';
import { askObject, ProviderRefusal } from '../../ask-json.ts';
import {
  askTokens,
  bearer,
  challengeOf,
  emailOf,
  nameOf,
  subjectOf,
  type Provider,
  type ProviderOptions,
} from './provider.ts';

const DISCOVERY_LIFE_MS = 3_600_000;

interface Discovery {
  authorize: string;
  token: string;
  userinfo: string;
}

/** The general provider: any OpenID provider, found by its issuer. */
export function createIdp2(options: ProviderOptions & { issuer: string; clock: Clock }): Provider {
  const { issuer, clientId, redirectUri, outbound, clock } = options;
  let known: { discovery: Discovery; until: number } | undefined;

  async function discover(): Promise<Discovery> {
    const now = clock().getTime();
    if (known && known.until > now) return known.discovery;
    const document = await askObject(outbound, `${issuer}/.well-known/openid-configuration`);
    const field = (name: string): string => {
      const value = document[name];
      if (typeof value !== 'string' || !/^https?:\/\//.test(value) || !URL.canParse(value))
        throw new Error(`the discovery document has no ${name}`);
      return value;
    };
    if (field('issuer').replace(/\/+$/, '') !== issuer) throw new Error('the discovery document is of another issuer');
    const discovery = {
      authorize: field('authorization_endpoint'),
      token: field('token_endpoint'),
      userinfo: field('userinfo_endpoint'),
    };
    known = { discovery, until: now + DISCOVERY_LIFE_MS };
    return discovery;
  }

  return {
    async authorizeUrl({ state, verifier }) {
      const url = new URL((await discover()).authorize);
      const query = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email profile',
        access_type: 'offline',
        prompt: 'select_account',
        state,
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return url.href;
    },
    async exchange(code, verifier) {
      const { token } = await discover();
      try {
        return await askTokens(options, token, { code, verifier, proof: 'basic' });
      } catch (error) {
        // Clients are registered for one way or the other, and the standard's default is the first.
        if (!(error instanceof ProviderRefusal && [400, 401].includes(error.status))) throw error;
        return askTokens(options, token, { code, verifier, proof: 'post' });
      }
    },
    async profile(accessToken) {
      const info = await askObject(outbound, (await discover()).userinfo, { headers: bearer(accessToken) });
      // Some providers write booleans as text.
      const verified = info['email_verified'] === true || info['email_verified'] === 'true';
      return {
        subject: subjectOf(info['sub']),
        email: verified ? emailOf(info['email']) : null,
        name: nameOf(info['name']),
      };
    },
  };
}
