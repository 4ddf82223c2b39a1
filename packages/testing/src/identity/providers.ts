import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { interactionPolicy, Provider, type KoaContextWithOIDC } from 'oidc-provider';

export const CLIENT = { id: 'troupe-test', secret: 'troupe-test-secret' };

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

async function listen(handler: Handler): Promise<{ server: Server; address: string; close: () => void }> {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** `ok` works; the others answer as a broken provider does, on the paths that match. */
interface Trouble {
  on: RegExp;
  how: 'silent' | 'slow' | 'closed' | 'nonsense' | 'error' | 'wrong-shape';
}

function inTrouble(trouble: Trouble | undefined, ...[request, response]: Parameters<RequestListener>): boolean {
  if (!trouble || !trouble.on.test(request.url ?? '')) return false;
  if (trouble.how === 'silent') return true;
  if (trouble.how === 'closed') {
    request.socket.destroy();
    return true;
  }
  response.writeHead(trouble.how === 'error' ? 500 : 200, { 'content-type': 'application/json' });
  if (trouble.how === 'slow') {
    // A byte now and then, without end.
    const timer = setInterval(() => response.write(' '), 100);
    response.once('close', () => clearInterval(timer));
    return true;
  }
  response.end(trouble.how === 'wrong-shape' ? '["surprise"]' : '<html>oops');
  return true;
}

interface OpenIdAccount {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
}

interface OpenIdOptions {
  redirectUri: string;
  proof?: 'basic' | 'post';
  /** Whether it knows the prompt select_account, which the library's default does not. */
  selects?: boolean;
}

/** A real OpenID provider on loopback; whoever comes is signed in as `state.account` without being asked. */
export async function startOpenId({ redirectUri, proof = 'basic', selects = true }: OpenIdOptions) {
  const state: { account: OpenIdAccount; deny: boolean; trouble?: Trouble } = {
    account: { sub: 'sub-1' },
    deny: false,
  };
  const authorizations: URLSearchParams[] = [];
  let handle: RequestListener = () => {};
  const { address, close } = await listen((request, response) => {
    if (inTrouble(state.trouble, request, response)) return;
    const url = new URL(request.url ?? '', address);
    if (url.pathname === '/auth') authorizations.push(url.searchParams);
    handle(request, response);
  });
  const policy = interactionPolicy.base();
  if (selects) policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
  const provider = new Provider(address, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: `client_secret_${proof}`,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['test'] },
    ...(selects && { discovery: { prompt_values_supported: ['none', 'login', 'consent', 'select_account'] } }),
    features: { devInteractions: { enabled: false } },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ ...state.account, sub }) }),
    interactions: { policy, url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    async loadExistingGrant({ oidc }: KoaContextWithOIDC) {
      const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  handle = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return answer(request, response);
    const result = state.deny
      ? { error: 'access_denied', error_description: 'The user said no' }
      : { login: { accountId: state.account.sub }, ...(selects && { select_account: {} }) };
    void provider.interactionFinished(request, response, result);
  };
  return { issuer: address, state, authorizations, close };
}

/**
 * The same library as it comes, with nothing but our client: its own pages, which take any name and password. It says
 * no address of anybody; `email` adds one, and nothing on whether it is verified.
 */
export async function startDefaultOpenId(redirectUri: string, email?: string) {
  let handle: RequestListener = () => {};
  const { address, close } = await listen((request, response) => handle(request, response));
  const account = (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, email }) });
  const provider = new Provider(address, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    ...(email !== undefined && { claims: { openid: ['sub'], email: ['email'] }, findAccount: account }),
  });
  handle = provider.callback();
  return { issuer: address, close };
}

interface CodeHostAccount {
  id: number;
  login: string;
  name?: string | null;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

/** GitHub's sign-in and the two calls after it, with PKCE really checked. */
export async function startCodeHost() {
  const account: CodeHostAccount = { id: 1, login: 'octo', emails: [] };
  const state: { account: CodeHostAccount; deny?: string; trouble?: Trouble } = { account };
  const codes = new Map<string, string>();
  const tokens = new Set<string>();

  const { address, close } = await listen(async (request, response) => {
    if (inTrouble(state.trouble, request, response)) return;
    const url = new URL(request.url ?? '', 'http://host');
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/login/oauth/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      const code = randomBytes(10).toString('hex');
      codes.set(code, url.searchParams.get('code_challenge') ?? '');
      if (state.deny) back.searchParams.set('error', state.deny);
      else back.searchParams.set('code', code);
      return response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/login/oauth/access_token') {
      const form = await formOf(request);
      const challenge = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const proved = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      // As GitHub does: also a refusal is a 200.
      if (form.get('client_secret') !== CLIENT.secret || challenge === undefined || challenge !== proved)
        return json(200, { error: 'bad_verification_code' });
      const token = `gho_${randomBytes(10).toString('hex')}`;
      tokens.add(token);
      return json(200, { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' });
    }
    if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) return json(401, {});
    const { emails, ...user } = state.account;
    if (url.pathname === '/api/v3/user') return json(200, user);
    if (url.pathname === '/api/v3/user/emails') return json(200, emails);
    return json(404, {});
  });
  return { address, state, tokens, close };
}
