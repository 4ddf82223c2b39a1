import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createSiweMessage } from 'viem/siwe';
import { createBrowser } from '@troupe/testing/http/browser';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { CLIENT, startCodeHost, startOpenId } from '@troupe/testing/identity/providers';
import { startWeb, type TestWeb } from '@troupe/testing/services/web';

/** Sign-in by identity provider and by wallet: the rows of 4.1 that need another party, and every error row. */

const BASE = 'http://127.0.0.1:3000';
let openId: Awaited<ReturnType<typeof startOpenId>>;
let codeHost: Awaited<ReturnType<typeof startCodeHost>>;
let chain: TestChain;
let web: TestWeb;
let people = 0;

before(async () => {
  openId = await startOpenId({ redirectUri: `${BASE}/api/auth/idp2/callback` });
  codeHost = await startCodeHost();
  chain = await startTestChain({ chainId: 8453 });
  web = await startWeb({
    env: {
      EMAIL_VERIFICATION: 'on',
      IDP1_CLIENT_ID: CLIENT.id,
      IDP1_CLIENT_SECRET: CLIENT.secret,
      IDP1_BASE_URL: codeHost.address,
      IDP2_CLIENT_ID: CLIENT.id,
      IDP2_CLIENT_SECRET: CLIENT.secret,
      IDP2_ISSUER: openId.issuer,
      L2_RPC_URL: chain.rpcUrl,
    },
  });
});
after(async () => {
  await web.stop();
  openId.close();
  codeHost.close();
  await chain.close();
});

let email = '';
beforeEach(() => {
  people += 1;
  email = `person${people}@example.com`;
  openId.state.account = { sub: `sub-${people}`, email, email_verified: true, name: 'Olga' };
  openId.state.deny = false;
  openId.state.trouble = undefined;
  codeHost.state.account = {
    id: people,
    login: 'octo',
    name: 'Octo',
    emails: [{ email, primary: true, verified: true }],
  };
  codeHost.state.deny = undefined;
  codeHost.state.trouble = undefined;
});

const browser = () => createBrowser(web.address, BASE);
const cookieOf = (cookies: Record<string, string>) => ({ cookie: `svc-session=${cookies['svc-session'] ?? ''}` });
const whoIs = async (cookies: Record<string, string>) =>
  (await web.visitor().ask('GET', '/api/auth/session', undefined, cookieOf(cookies))).body.user;

const PROVIDERS = ['idp1', 'idp2'] as const;

describe('identity providers', () => {
  test('the page that signs in is told which providers are set up', async () => {
    const { body } = await web.visitor().ask('GET', '/api/auth/providers');
    assert.deepEqual(body, { idp1: true, idp2: true });
  });

  for (const provider of PROVIDERS) {
    test(`GET /api/auth/${provider} leads through the provider to /dashboard, signed in`, async () => {
      const visitor = browser();
      assert.equal(await visitor.visit(`/api/auth/${provider}`), '/dashboard');
      const { name, isAdmin, ...rest } = await whoIs(visitor.cookies());
      assert.deepEqual([rest.email, name, isAdmin], [email, provider === 'idp1' ? 'Octo' : 'Olga', false]);
    });

    test(`${provider}: the account is linked to the user of the same address, whose password goes when it was never verified`, async () => {
      const person = await web.signUp({ email, password: 'lying in wait' });
      const visitor = browser();
      await visitor.visit(`/api/auth/${provider}`);
      assert.equal((await whoIs(visitor.cookies())).id, person.id);
      const login = await web.visitor().ask('POST', '/api/auth/login', { email, password: 'lying in wait' });
      assert.deepEqual([login.status, login.body], [401, { error: 'Invalid email or password' }]);
      assert.equal((await person.ask('GET', '/api/auth/session')).body.user, null);
    });

    test(`${provider}: every error of the callback`, async () => {
      const { state } = provider === 'idp1' ? codeHost : openId;
      const token = provider === 'idp1' ? /access_token/ : /^\/token/;
      const profile = provider === 'idp1' ? /api\/v3\/user/ : /^\/me/;
      const cases: [error: string, prepare: () => void][] = [
        [
          'AccessDenied',
          () => (provider === 'idp1' ? (codeHost.state.deny = 'access_denied') : (openId.state.deny = true)),
        ],
        ['IdpTokenFailed', () => (state.trouble = { on: token, how: 'error' })],
        ['IdpTokenFailed', () => (state.trouble = { on: token, how: 'nonsense' })],
        ['IdpAuthError', () => (state.trouble = { on: profile, how: 'nonsense' })],
        [
          'IdpNoEmail',
          () => {
            codeHost.state.account.emails = [{ email, primary: true, verified: false }];
            openId.state.account.email_verified = false;
          },
        ],
      ];
      for (const [error, prepare] of cases) {
        openId.state.deny = false;
        codeHost.state.deny = state.trouble = undefined;
        prepare();
        const visitor = browser();
        assert.equal(await visitor.visit(`/api/auth/${provider}`), `/login?error=${error}`);
        assert.equal(await whoIs(visitor.cookies()), null);
      }
      for (const query of ['', '?error=temporarily_unavailable', '?code=stolen&state=guessed'])
        assert.equal(
          (await browser().ask(`/api/auth/${provider}/callback${query}`)).location,
          '/login?error=IdpAuthFailed',
        );
    });
  }

  test('IdpNotConfigured without client id or secret', async () => {
    const bare = await startWeb();
    try {
      for (const path of ['/api/auth/idp1', '/api/auth/idp2', '/api/auth/idp1/callback', '/api/auth/idp2/callback']) {
        const { status, headers } = await bare.visitor().ask('GET', path);
        assert.deepEqual([status, headers.get('location')], [302, '/login?error=IdpNotConfigured']);
      }
    } finally {
      await bare.stop();
    }
  });
});

describe('wallets', () => {
  const visitor = () => web.visitor();
  const nonceBy = async (method: string): Promise<string> =>
    (await visitor().ask(method, '/api/auth/nonce')).body.nonce;
  const messageFor = (address: `0x${string}`, nonce: string) =>
    createSiweMessage({ address, chainId: 8453, domain: '127.0.0.1:3000', nonce, uri: BASE, version: '1' });

  test('GET and POST /api/auth/nonce, POST /api/wallet-auth: a session, and the same user each time', async () => {
    const wallet = await chain.smartWallet({ deployed: false });
    const ids = [];
    for (const method of ['GET', 'POST']) {
      const guest = visitor();
      const message = messageFor(wallet.address, await nonceBy(method));
      const signature = await wallet.signMessage(message);
      const reply = await guest.ask('POST', '/api/wallet-auth', { address: wallet.address, message, signature });
      assert.deepEqual([reply.status, reply.body.ok], [200, true]);
      const { user } = (await guest.ask('GET', '/api/auth/session')).body;
      assert.deepEqual([user.id, user.email], [reply.body.user.id, `${wallet.address.toLowerCase()}@wallet.svc`]);
      ids.push(user.id);
      await wallet.deploy().catch(() => {});
    }
    assert.equal(new Set(ids).size, 1);
  });

  test('400, 401 and a nonce that works once', async () => {
    const missing = await visitor().ask('POST', '/api/wallet-auth', { address: '0x' });
    assert.deepEqual([missing.status, missing.body], [400, { error: 'Missing: address, message, signature' }]);
    const wallet = await chain.smartWallet({ deployed: true });
    const message = messageFor(wallet.address, await nonceBy('GET'));
    const body = { address: wallet.address, message, signature: await wallet.signMessage(message) };
    const forged = await visitor().ask('POST', '/api/wallet-auth', { ...body, message: `${message} ` });
    assert.deepEqual([forged.status, forged.body], [401, { error: 'Invalid signature' }]);
    assert.equal((await visitor().ask('POST', '/api/wallet-auth', body)).status, 200);
    const replayed = await visitor().ask('POST', '/api/wallet-auth', body);
    assert.deepEqual([replayed.status, replayed.body], [401, { error: 'Invalid signature' }]);
    const account = await chain.account();
    const plain = messageFor(account.address, await nonceBy('GET'));
    const eoa = await visitor().ask('POST', '/api/wallet-auth', {
      address: account.address,
      message: plain,
      signature: await account.signMessage({ message: plain }),
    });
    assert.deepEqual([eoa.status, eoa.body], [401, { error: 'Only smart-contract wallets are supported' }]);
  });
});

describe('federated identity and token gating, as far as they work without a provider', () => {
  const ROWS: [method: string, path: string, body: unknown, status: number, error: string][] = [
    ['POST', '/api/auth/federated/verify', {}, 401, 'Missing identity token'],
    ['POST', '/api/auth/federated/verify', { fidToken: 'x' }, 503, 'Federated identity is not configured'],
    ['POST', '/api/auth/federated/refresh', {}, 400, 'Missing refresh token'],
    ['POST', '/api/auth/federated/refresh', { refreshToken: 'x' }, 401, 'Invalid refresh token'],
    ['POST', '/api/auth/token-gating/verify', {}, 400, 'Missing fid or address'],
    ['POST', '/api/auth/token-gating/verify', { fid: 1, address: 'x' }, 400, 'Invalid Ethereum address'],
    ['GET', '/api/auth/token-gating/verify', undefined, 400, 'Invalid or missing address parameter'],
  ];
  for (const [method, path, body, status, error] of ROWS)
    test(`${method} ${path} ${JSON.stringify(body) ?? ''}: ${status}`, async () => {
      const reply = await web.visitor().ask(method, path, body);
      assert.deepEqual([reply.status, reply.body], [status, { error }]);
    });

  test('GET tells what verify and refresh take', async () => {
    for (const name of ['verify', 'refresh']) {
      const { body } = await web.visitor().ask('GET', `/api/auth/federated/${name}`);
      assert.deepEqual(Object.keys(body).sort(), ['description', 'endpoint', 'methods', 'optional', 'required']);
    }
  });
});
