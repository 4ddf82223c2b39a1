import { askJson, askObject } from '../ask-json.ts';
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

const PUBLIC = 'https://github.com';

/** The code-hosting provider: GitHub, or a server of its kind. */
export function createIdp1(options: ProviderOptions & { baseUrl: string }): Provider {
  const { baseUrl, clientId, redirectUri, outbound } = options;
  const api = baseUrl === PUBLIC ? 'https://api.github.com' : `${baseUrl}/api/v3`;

  async function verifiedEmail(accessToken: string): Promise<string | null> {
    const emails = await askJson(outbound, `${api}/user/emails`, { headers: bearer(accessToken) });
    if (!Array.isArray(emails)) throw new Error('the provider did not answer with a list of addresses');
    const verified = (emails as ({ email?: unknown; verified?: unknown; primary?: unknown } | null)[]).filter(
      (entry) => entry?.verified === true,
    );
    return emailOf((verified.find((entry) => entry?.primary === true) ?? verified[0])?.email);
  }

  return {
    async authorizeUrl({ state, verifier }) {
      const query = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'read:user user:email',
        state,
        code_challenge: challengeOf(verifier),
        code_challenge_method: 'S256',
      });
      return `${baseUrl}/login/oauth/authorize?${query}`;
    },
    exchange: (code, verifier) =>
      askTokens(options, `${baseUrl}/login/oauth/access_token`, { code, verifier, proof: 'post' }),
    async profile(accessToken) {
      const [user, email] = await Promise.all([
        askObject(outbound, `${api}/user`, { headers: bearer(accessToken) }),
        verifiedEmail(accessToken),
      ]);
      return { subject: subjectOf(user['id']), email, name: nameOf(user['name']) ?? nameOf(user['login']) };
    },
  };
}
