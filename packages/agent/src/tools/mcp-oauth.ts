import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { McpServer } from '@troupe/domain';
import { AppError, newId, sameSecret, type Outbound } from '@troupe/kernel';
import { guardedFetch } from './mcp-http.ts';

/**
 * Access to MCP servers that ask for it (OAuth 2.1): the owner agrees in the browser, and the agent keeps what that brings
 * and renews it. Every address on the way, also those that the server names, is fetched by the guarded client.
 */

/** Keeps a text for each server; sealed where it lies. */
export interface CredentialStore {
  load: (server: string) => Promise<string | undefined>;
  save: (server: string, text: string | undefined) => Promise<void>;
}

export interface McpOAuth {
  /** For a connection: shows what there is, renews it, and never asks anybody. */
  provider: (server: McpServer) => OAuthClientProvider;
  /** Where the owner is to be sent; undefined: access is there already. */
  begin: (
    server: McpServer,
    where: { redirectUri: string; clientUri?: string | undefined; state: string },
  ) => Promise<string | undefined>;
  finish: (server: McpServer, answer: { code: string; state: string; iss?: string | undefined }) => Promise<void>;
  forget: (server: string) => Promise<void>;
}

interface Kept {
  redirectUri?: string;
  clientUri?: string;
  state?: string;
  verifier?: string;
  client?: Record<string, StoredOAuthClientInformation>;
  tokens?: Record<string, StoredOAuthTokens>;
  /** Whose tokens are the newest. */
  issuer?: string;
  discovery?: OAuthDiscoveryState;
  /** Scopes that a call turned out to need. */
  wanted?: string;
}

const MAX_BYTES = 256 * 1024;
const NO_ISSUER = '';

export function createMcpOAuth({ outbound, store }: { outbound: Outbound; store: CredentialStore }): McpOAuth {
  const fetchFn = guardedFetch(outbound, MAX_BYTES);

  async function read(server: McpServer): Promise<Kept & { for?: string }> {
    const text = await store.load(server.name);
    const kept = text === undefined ? {} : (JSON.parse(text) as Kept & { for?: string });
    // Under the same name there may be another server by now.
    return kept.for === server.url ? kept : {};
  }
  const write = (server: McpServer, kept: Kept): Promise<void> =>
    store.save(server.name, JSON.stringify({ ...kept, for: server.url }));

  async function change(server: McpServer, how: (kept: Kept) => Kept): Promise<void> {
    await write(server, how(await read(server)));
  }

  /** `kept` is what stood there when it was made: where to come back to does not change under way. */
  function providerFor(
    server: McpServer,
    kept: Kept,
    onRedirect: (url: URL) => void | Promise<void>,
  ): OAuthClientProvider {
    const redirectUri = kept.redirectUri ?? 'http://127.0.0.1/';
    const key = (context?: { issuer?: string }): string => context?.issuer ?? NO_ISSUER;
    return {
      redirectUrl: redirectUri,
      ...(kept.clientUri !== undefined && { clientMetadataUrl: kept.clientUri }),
      clientMetadata: {
        client_name: 'Troupe',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      state: async () => (await read(server)).state ?? newId(),
      clientInformation: async (context) => (await read(server)).client?.[key(context)],
      saveClientInformation: (client, context) =>
        change(server, (now) => ({ ...now, client: { ...now.client, [key(context)]: client } })),
      async tokens(context) {
        const now = await read(server);
        return now.tokens?.[context ? key(context) : (now.issuer ?? NO_ISSUER)];
      },
      saveTokens: (tokens, context) =>
        change(server, (now) => ({
          ...now,
          issuer: key(context),
          tokens: { ...now.tokens, [key(context)]: tokens },
        })),
      redirectToAuthorization: onRedirect,
      saveCodeVerifier: (verifier) => change(server, (now) => ({ ...now, verifier })),
      async codeVerifier() {
        const { verifier } = await read(server);
        if (verifier === undefined) throw new AppError(400, 'Nobody asked for this authorization');
        return verifier;
      },
      saveDiscoveryState: (discovery) => change(server, (now) => ({ ...now, discovery })),
      discoveryState: async () => (await read(server)).discovery,
      invalidateCredentials: (what) => change(server, (now) => without(now, what)),
    };
  }

  return {
    provider(server) {
      // Read when it is needed: a connection is made before anything is known.
      return providerFor(server, {}, async (url) => {
        const wanted = url.searchParams.get('scope');
        await change(server, (now) => ({ ...now, ...(wanted !== null && { wanted }) }));
      });
    },

    async begin(server, { redirectUri, clientUri, state }) {
      const { auth } = await import('@modelcontextprotocol/client');
      const before = await read(server);
      // A program is registered with the address that people come back to.
      const client = before.redirectUri === redirectUri ? before.client : undefined;
      const { client: _client, discovery, ...rest } = before;
      // Where the server said it describes itself; what was found there is read anew.
      const described = discovery?.resourceMetadataUrl;
      const kept: Kept = { ...rest, redirectUri, state, ...(client && { client }), ...(clientUri && { clientUri }) };
      await write(server, kept);
      let asked: URL | undefined;
      const provider = providerFor(server, kept, (url) => void (asked = url));
      const scope = before.wanted;
      const done = await auth(provider, {
        serverUrl: server.url ?? '',
        fetchFn,
        ...(described !== undefined && { resourceMetadataUrl: new URL(described) }),
        ...(scope !== undefined && { scope, forceReauthorization: true }),
      });
      if (done === 'AUTHORIZED') return undefined;
      // Told to a browser: nothing but a page is opened there.
      if (!asked || !/^https?:$/.test(asked.protocol)) throw new AppError(502, 'The server names no page to ask at');
      return asked.href;
    },

    async finish(server, { code, state, iss }) {
      const kept = await read(server);
      if (kept.state === undefined || !sameSecret(state, kept.state))
        throw new AppError(400, 'Nobody asked for this authorization');
      const { auth } = await import('@modelcontextprotocol/client');
      const provider = providerFor(server, kept, () => undefined);
      await auth(provider, {
        serverUrl: server.url ?? '',
        authorizationCode: code,
        ...(iss !== undefined && { iss }),
        fetchFn,
      });
      await change(server, ({ state: _state, verifier: _verifier, wanted: _wanted, ...now }) => now);
    },

    forget: (server) => store.save(server, undefined),
  };
}

function without(kept: Kept, what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Kept {
  const { redirectUri, clientUri, state } = kept;
  if (what === 'all')
    return { ...(redirectUri && { redirectUri }), ...(clientUri && { clientUri }), ...(state && { state }) };
  const { [what]: _gone, ...rest } = kept;
  return rest;
}
