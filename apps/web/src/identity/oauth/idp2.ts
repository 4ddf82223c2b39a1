import type { Clock } from '@troupe/kernel';
import { askObject, ProviderRefusal } from '../ask-json.ts';
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
  /** Whether it lets people choose among their accounts when asked to; others end the sign-in with an error. */
  selectsAccount: boolean;
}

/** It does, and its metadata does not say so. */
const GOOGLE = 'https://accounts.google.com';

interface Idp2Options extends ProviderOptions {
  issuer: string;
  clock: Clock;
  /** The operator vouches for the addresses of a provider that does not say whether they are verified. */
  trustsEmail: boolean;
}

/** Where the provider says that things are. */
function createDiscovery({ issuer, outbound, clock }: Idp2Options) {
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
    const prompts = document['prompt_values_supported'];
    const discovery = {
      authorize: field('authorization_endpoint'),
      token: field('token_endpoint'),
      userinfo: field('userinfo_endpoint'),
      selectsAccount: issuer === GOOGLE || (Array.isArray(prompts) && prompts.includes('select_account')),
    };
    known = { discovery, until: now + DISCOVERY_LIFE_MS };
    return discovery;
  }

  return discover;
}

/** The general provider: any OpenID provider, found by its issuer. */
export function createIdp2(options: Idp2Options): Provider {
  const { clientId, redirectUri, outbound, trustsEmail } = options;
  const discover = createDiscovery(options);

  return {
    async authorizeUrl({ state, verifier }) {
      const { authorize, selectsAccount } = await discover();
      const url = new URL(authorize);
      const query = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email profile',
        access_type: 'offline',
        ...(selectsAccount && { prompt: 'select_account' }),
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
      // Some providers write booleans as text, some say nothing.
      const said = info['email_verified'] ?? (trustsEmail ? true : undefined);
      const verified = said === true || said === 'true';
      return {
        subject: subjectOf(info['sub']),
        email: verified ? emailOf(info['email']) : null,
        name: nameOf(info['name']),
      };
    },
  };
}
