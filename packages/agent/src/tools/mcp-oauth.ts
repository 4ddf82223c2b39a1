import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { AppError, newId, parseAnswer, sameSecret, sha256Hex, type Outbound } from '@troupe/kernel';
import { guardedFetch, type Fetch } from './mcp-http.ts';
import { openServer, type Vault } from './mcp-secrets.ts';
import type { UsedServer } from './mcp-shared.ts';

/**
 * Access to MCP servers that ask for it (OAuth 2.1): the owner agrees in the browser, and the agent keeps what that brings
 * and renews it. Every address on the way, also those that the server names, is fetched by the guarded client.
 */

/** Keeps a text for each server; sealed where it lies. `shared`: it is the owner's, and what is kept is for all agents. */
export interface CredentialStore {
  load: (server: string, shared?: string) => Promise<string | undefined>;
  save: (server: string, text: string | undefined, shared?: string) => Promise<void>;
  /** One at a time for a server of the owner's, in whatever process. */
  alone?: <T>(shared: string, work: () => Promise<T>) => Promise<T>;
}

export interface McpOAuth {
  /** For a connection: shows what there is, renews it, and never asks anybody. */
  provider: (server: UsedServer) => OAuthClientProvider;
  /** Where the owner is to be sent; undefined: access is there already. */
  begin: (
    server: UsedServer,
    where: { redirectUri: string; clientUri?: string | undefined; state: string },
    signal?: AbortSignal,
  ) => Promise<string | undefined>;
  finish: (
    server: UsedServer,
    answer: { code: string; state: string; iss?: string | undefined },
    signal?: AbortSignal,
  ) => Promise<void>;
  forget: (server: string) => Promise<void>;
  /** What several agents would renew at once is renewed by one of them: a token that is shown twice may end all access. */
  renewing: (server: UsedServer, fetch: Fetch) => Fetch;
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
  /** With whom what the owner registered by hand is registered: the first who asked for it. Nobody else is shown its secret. */
  registered?: { id: string; issuer: string };
  discovery?: OAuthDiscoveryState;
  /** Scopes that a call turned out to need. */
  wanted?: string;
  /** What the last renewal brought, and for which token. */
  renewed?: { from: string; to?: string; at?: number; answer: string };
}

const MAX_BYTES = 256 * 1024;
/** Of all that is kept for one server: it is read and sealed on the loop. */
const MAX_KEPT = 128 * 1024;
const NO_ISSUER = '';

type Change = (kept: Kept) => Kept;

/** What is kept for each server. */
function createKeeping(store: CredentialStore) {
  async function read(server: UsedServer): Promise<Kept> {
    const text = await store.load(server.name, server.shared);
    const kept = text === undefined ? {} : (JSON.parse(text) as Kept & { for?: string });
    // Under the same name there may be another server by now.
    return kept.for === server.url ? kept : {};
  }
  async function write(server: UsedServer, kept: Kept): Promise<void> {
    const text = JSON.stringify({ ...kept, for: server.url });
    if (text.length > MAX_KEPT) throw new AppError(502, 'The server’s registration or tokens are too large to be kept');
    await store.save(server.name, text, server.shared);
  }
  const change = async (server: UsedServer, how: Change): Promise<void> => write(server, how(await read(server)));
  return { read, write, change };
}

type Keeping = ReturnType<typeof createKeeping>;

const keyOf = (context?: { issuer?: string }): string => context?.issuer ?? NO_ISSUER;

/** Issuers that something is kept of; a server may name another one every time. */
const MOST_ISSUERS = 4;

function newest<T>(known: Readonly<Record<string, T>> = {}, issuer: string, value: T): Record<string, T> {
  const others = Object.entries(known).filter(([name]) => name !== issuer);
  return Object.fromEntries([...others, [issuer, value] as const].slice(-MOST_ISSUERS));
}

/** What the owner registered by hand goes before all else, with the issuer that it is registered with. */
async function clientFor(keeping: Keeping, server: UsedServer, issuer: string | undefined) {
  const { client, registered, issuer: last = NO_ISSUER } = await keeping.read(server);
  const known = client?.[issuer ?? last];
  if (!server.client) return known;
  const { id, secret } = server.client;
  if (registered?.id !== id) {
    await keeping.change(server, (kept) => ({ ...kept, registered: { id, issuer: issuer ?? last } }));
  } else if (issuer !== undefined && registered.issuer !== issuer) return known?.client_id === id ? undefined : known;
  return { client_id: id, ...(secret !== undefined && { client_secret: secret }) };
}

/** `kept` is what stood there when it was made: where to come back to does not change under way. */
function providerFor(
  keeping: Keeping,
  server: UsedServer,
  { redirectUri = 'http://127.0.0.1/', clientUri }: Kept,
  onRedirect: (url: URL) => void | Promise<void>,
): OAuthClientProvider {
  const now = (): Promise<Kept> => keeping.read(server);
  const change = (how: Change): Promise<void> => keeping.change(server, how);
  return {
    redirectUrl: redirectUri,
    ...(clientUri !== undefined && { clientMetadataUrl: clientUri }),
    clientMetadata: {
      client_name: 'Troupe',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: async () => (await now()).state ?? newId(),
    clientInformation: (context) => clientFor(keeping, server, context?.issuer),
    saveClientInformation: (client, context) =>
      change((kept) => ({ ...kept, client: newest(kept.client, keyOf(context), client) })),
    async tokens(context) {
      const { tokens, issuer = NO_ISSUER } = await now();
      return tokens?.[context ? keyOf(context) : issuer];
    },
    saveTokens: (tokens, context) =>
      change((kept) => ({ ...kept, issuer: keyOf(context), tokens: newest(kept.tokens, keyOf(context), tokens) })),
    redirectToAuthorization: onRedirect,
    saveCodeVerifier: (verifier) => change((kept) => ({ ...kept, verifier })),
    async codeVerifier() {
      const { verifier } = await now();
      if (verifier === undefined) throw new AppError(400, 'Nobody asked for this authorization');
      return verifier;
    },
    saveDiscoveryState: (discovery) => change((kept) => ({ ...kept, discovery })),
    discoveryState: async () => (await now()).discovery,
    invalidateCredentials: (what) => change((kept) => without(kept, what)),
  };
}

interface McpOAuthDeps {
  outbound: Outbound;
  store: CredentialStore;
  vault: Vault | undefined;
}

export function createMcpOAuth({ outbound, store, vault }: McpOAuthDeps): McpOAuth {
  const asking = (signal?: AbortSignal) => guardedFetch(outbound, MAX_BYTES, { gone: signal });
  const keeping = createKeeping(store);
  const alone = createAlone(store);
  return {
    provider(server) {
      // Read when it is needed: a connection is made before anything is known.
      return providerFor(keeping, server, {}, async (url) => {
        const wanted = url.searchParams.get('scope');
        await keeping.change(server, (now) => ({ ...now, ...(wanted !== null && { wanted }) }));
      });
    },

    async begin(given, { redirectUri, clientUri, state }, signal) {
      const { auth } = await import('@modelcontextprotocol/client');
      const server = openServer(given, vault);
      const before = await keeping.read(server);
      // A program is registered with the address that people come back to.
      const client = before.redirectUri === redirectUri ? before.client : undefined;
      const { client: _client, discovery, ...rest } = before;
      // Where the server said it describes itself; what was found there is read anew.
      const described = discovery?.resourceMetadataUrl;
      const kept: Kept = { ...rest, redirectUri, state, ...(client && { client }), ...(clientUri && { clientUri }) };
      await keeping.write(server, kept);
      let asked: URL | undefined;
      const provider = providerFor(keeping, server, kept, (url) => void (asked = url));
      const scope = before.wanted;
      const done = await auth(provider, {
        serverUrl: server.url ?? '',
        fetchFn: asking(signal),
        ...(described !== undefined && { resourceMetadataUrl: new URL(described) }),
        ...(scope !== undefined && { scope, forceReauthorization: true }),
      });
      if (done === 'AUTHORIZED') return undefined;
      // Told to a browser: nothing but a page is opened there.
      if (!asked || !/^https?:$/.test(asked.protocol)) throw new AppError(502, 'The server names no page to ask at');
      return asked.href;
    },

    async finish(given, { code, state, iss }, signal) {
      const server = openServer(given, vault);
      const kept = await alone(server, () => takeState(keeping, server, state));
      const { auth } = await import('@modelcontextprotocol/client');
      const provider = providerFor(keeping, server, kept, () => undefined);
      await auth(provider, {
        serverUrl: server.url ?? '',
        authorizationCode: code,
        ...(iss !== undefined && { iss }),
        fetchFn: asking(signal),
      });
      await keeping.change(server, ({ verifier: _verifier, wanted: _wanted, ...now }) => now);
    },

    forget: (server) => store.save(server, undefined),
    renewing: (server, fetch) => renewOnce(keeping, alone, server, fetch),
  };
}

/** Of two who come back with the same answer one takes it: a code that is shown twice may end all access. */
async function takeState(keeping: Keeping, server: UsedServer, state: string): Promise<Kept> {
  const { state: asked, ...rest } = await keeping.read(server);
  if (asked === undefined || !sameSecret(state, asked)) throw new AppError(400, 'Nobody asked for this authorization');
  await keeping.write(server, rest);
  return rest;
}

type Alone = <T>(server: UsedServer, work: () => Promise<T>) => Promise<T>;

/** One at a time for a server: one of the owner's in whatever process, one of an agent's where that agent is. */
function createAlone(store: CredentialStore): Alone {
  const turns = new Map<string, Promise<unknown>>();
  return (server, work) => {
    const { shared, name } = server;
    if (shared !== undefined && store.alone) return store.alone(shared, work);
    const turn = (turns.get(name) ?? Promise.resolve()).then(work);
    const ended = turn.catch(() => {});
    turns.set(name, ended);
    void ended.then(() => turns.get(name) === ended && turns.delete(name));
    return turn;
  };
}

/** Longer than two who found out at the same moment that a token is over are apart, and shorter than any token lasts. */
const JUST_NOW_MS = 30_000;

/**
 * Whether it was just renewed by somebody else: with the token that is shown now, or into it. A server that gives no new one is
 * shown the same again and again, so only for a moment.
 */
function wasJustRenewed({ renewed }: Kept, shown: string): string | undefined {
  const { from, to, at = -Infinity, answer } = renewed ?? {};
  return (shown === from || shown === to) && Date.now() - at < JUST_NOW_MS ? answer : undefined;
}

/** The token that renews next time; undefined: the same as this time. What is no JSON is told by who reads it next. */
function nextOf(answer: string): string | undefined {
  try {
    const { refresh_token: token } = parseAnswer(answer) as { refresh_token?: unknown };
    return typeof token === 'string' ? sha256Hex(token) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Who comes second with the same token is given what the first one got. */
function renewOnce(keeping: Keeping, alone: Alone, server: UsedServer, fetch: Fetch): Fetch {
  return async (url, init) => {
    const token = renewedBy(init);
    if (token === undefined) return fetch(url, init);
    const from = sha256Hex(token);
    return alone(server, async () => {
      const headers = { 'content-type': 'application/json' };
      const known = wasJustRenewed(await keeping.read(server), from);
      if (known !== undefined) return new Response(known, { headers });
      const answered = await fetch(url, init);
      if (!answered.ok) return answered;
      const answer = await answered.text();
      const to = nextOf(answer);
      const renewed = { from, at: Date.now(), answer, ...(to !== undefined && { to }) };
      await keeping.change(server, (kept) => ({ ...kept, renewed }));
      return new Response(answer, { headers });
    });
  };
}

/** The token that a request renews; undefined: it is another request. */
function renewedBy({ method, body }: RequestInit = {}): string | undefined {
  if (method !== 'POST' || !(body instanceof URLSearchParams)) return undefined;
  return body.get('grant_type') === 'refresh_token' ? (body.get('refresh_token') ?? undefined) : undefined;
}

function without(kept: Kept, what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Kept {
  const { redirectUri, clientUri, state, registered } = kept;
  if (what === 'all')
    return {
      ...(redirectUri && { redirectUri }),
      ...(clientUri && { clientUri }),
      ...(state && { state }),
      ...(registered && { registered }),
    };
  const { [what]: _gone, ...rest } = kept;
  return rest;
}
