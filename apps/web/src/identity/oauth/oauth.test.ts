import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { randomHex } from '@troupe/kernel';
import { createBrowser } from '@troupe/testing/http/browser';
import { CLIENT, startCodeHost, startOpenId } from '@troupe/testing/identity/providers';
import { addAuthenticator, signedIn, testWeb, type TestWeb } from '../../testing.ts';

const BASE = 'http://127.0.0.1:3000';
let openId: Awaited<ReturnType<typeof startOpenId>>;
let codeHost: Awaited<ReturnType<typeof startCodeHost>>;
let web: TestWeb;
let now = Date.now();

before(async () => {
  openId = await startOpenId({ redirectUri: `${BASE}/api/auth/idp2/callback` });
  codeHost = await startCodeHost();
  web = await testWeb({
    clock: () => new Date(now),
    env: {
      EMAIL_VERIFICATION: 'on',
      IDP1_CLIENT_ID: CLIENT.id,
      IDP1_CLIENT_SECRET: CLIENT.secret,
      IDP1_BASE_URL: codeHost.address,
      IDP2_CLIENT_ID: `${CLIENT.id}, second-audience`,
      IDP2_CLIENT_SECRET: CLIENT.secret,
      IDP2_ISSUER: `${openId.issuer}/`,
    },
  });
});
after(async () => {
  await web.stop();
  openId.close();
  codeHost.close();
});

const fresh = () => `${randomHex(6)}@example.com`;

beforeEach(() => {
  const email = fresh();
  openId.state.account = { sub: `sub-${randomHex(4)}`, email, email_verified: true, name: 'Olga' };
  openId.state.deny = false;
  codeHost.state.account = {
    id: Number.parseInt(randomHex(4), 16),
    login: 'octo',
    name: 'Octo Cat',
    emails: [{ email, primary: true, verified: true }],
  };
  codeHost.state.deny = undefined;
  openId.state.trouble = undefined;
  codeHost.state.trouble = undefined;
});

const browser = () => createBrowser(web.server.app, BASE);

async function whoIs(cookies: Record<string, string>) {
  const cookie = Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
  return (await web.server.app.inject({ url: '/api/auth/session', headers: { cookie } })).json().user;
}

const PROVIDERS = ['idp1', 'idp2'] as const;

const setEmail = (email: string | undefined, verified: boolean) => {
  openId.state.account = { ...openId.state.account, email, email_verified: verified };
  codeHost.state.account.emails = email === undefined ? [] : [{ email, primary: true, verified }];
};

describe('sign-in at a provider', () => {
  for (const provider of PROVIDERS) {
    test(`${provider}: a new user, with a session and sealed tokens`, async () => {
      const email = openId.state.account.email!;
      const visitor = browser();
      assert.equal(await visitor.visit(`/api/auth/${provider}`), '/dashboard');
      const user = await whoIs(visitor.cookies());
      assert.deepEqual([user.email, user.name], [email, provider === 'idp1' ? 'Octo Cat' : 'Olga']);
      assert.deepEqual(Object.keys(visitor.cookies()), ['svc-session']);

      const row = await web.deps.db.system
        .selectFrom('account_links')
        .selectAll()
        .where('user_id', '=', user.id)
        .executeTakeFirstOrThrow();
      const tokens = await web.accounts.links.tokens(web.deps.db.system, row.id);
      const token = String(tokens?.['access_token']);
      assert.ok(token.length > 10);
      assert.ok(!row.tokens!.toString('latin1').includes(token));
      if (provider === 'idp2') assert.equal(typeof tokens?.['refresh_token'], 'string');
    });

    test(`${provider}: coming again is the same user, also with another address at the provider`, async () => {
      const first = browser();
      await first.visit(`/api/auth/${provider}`);
      setEmail(fresh(), true);
      const second = browser();
      await second.visit(`/api/auth/${provider}`);
      assert.equal((await whoIs(second.cookies())).id, (await whoIs(first.cookies())).id);
      setEmail(undefined, false);
      const third = browser();
      assert.equal(await third.visit(`/api/auth/${provider}`), '/dashboard');
    });

    test(`${provider}: with a second factor the provider's word is the first step alone`, async () => {
      const first = browser();
      await first.visit(`/api/auth/${provider}`);
      const user = await whoIs(first.cookies());
      const recoveryCode = await addAuthenticator(web, user);
      const second = browser();
      assert.equal(await second.visit(`/api/auth/${provider}`), '/login/second-step');
      assert.deepEqual(Object.keys(second.cookies()), ['svc-sign-in']);
      assert.equal(await whoIs(second.cookies()), null);
      const passed = await web.server.app.inject({
        method: 'POST',
        url: '/api/auth/second-step',
        headers: { cookie: `svc-sign-in=${second.cookies()['svc-sign-in']}` },
        payload: { recoveryCode },
      });
      assert.equal(passed.json().user.id, user.id);
    });

    test(`${provider}: two callbacks of one new person at once make one user`, async () => {
      const ways = await Promise.all([browser(), browser(), browser()].map((b) => b.visit(`/api/auth/${provider}`)));
      assert.deepEqual(new Set(ways), new Set(['/dashboard']));
    });

    test(`${provider}: links to a user whose address is verified, and keeps the password`, async () => {
      const person = await signedIn(web, { email: openId.state.account.email, passwordHash: 'kept' });
      const visitor = browser();
      await visitor.visit(`/api/auth/${provider}`);
      assert.equal((await whoIs(visitor.cookies())).id, person.id);
      const user = await web.accounts.users.byEmail(web.deps.db.system, person.email);
      assert.equal(user?.password_hash, 'kept');
      assert.equal((await whoIs({ 'svc-session': person.headers.cookie.split('=')[1]! })).id, person.id);
    });

    test(`${provider}: nobody can lie in wait in somebody else's address`, async () => {
      const { db } = web.deps;
      const email = openId.state.account.email!;
      const squatter = await signedIn(web, { email, passwordHash: 'theirs', verified: false });
      const key = await web.server.app.inject({
        method: 'POST',
        url: '/api/keys',
        headers: squatter.headers,
        payload: { name: 'waiting' },
      });
      await web.accounts.links.save(db.system, {
        userId: squatter.id,
        provider: 'wallet',
        subject: `0x${squatter.id}`,
      });
      const reset = await web.accounts.verification.startReset(db.system, squatter.id);

      const visitor = browser();
      await visitor.visit(`/api/auth/${provider}`);
      assert.equal((await whoIs(visitor.cookies())).id, squatter.id);
      const user = await web.accounts.users.byEmail(db.system, email);
      assert.equal(user?.password_hash, null);
      assert.notEqual(user?.email_verified_at, null);
      assert.equal(await whoIs({ 'svc-session': squatter.headers.cookie.split('=')[1]! }), null);
      const byKey = { authorization: `Bearer ${key.json().key}` };
      assert.equal((await web.server.app.inject({ url: '/api/keys', headers: byKey })).statusCode, 401);
      assert.equal(await web.accounts.links.find(db.system, 'wallet', `0x${squatter.id}`), null);
      assert.equal(await web.accounts.verification.finishReset(db.system, reset), null);
    });

    test(`${provider}: no address, or one that the provider has not verified: IdpNoEmail, and nobody is made`, async () => {
      const email = fresh();
      await signedIn(web, { email });
      for (const [address, verified] of [
        [undefined, false],
        [email, false],
        [fresh(), false],
        ['not an address', true],
        [`0x${'a'.repeat(40)}@wallet.svc`, true],
      ] as const) {
        setEmail(address, verified);
        const visitor = browser();
        assert.equal(await visitor.visit(`/api/auth/${provider}`), '/login?error=IdpNoEmail');
        assert.deepEqual(visitor.cookies(), {});
        if (address && address !== email)
          assert.equal(await web.accounts.users.byEmail(web.deps.db.system, address), null);
      }
    });
  }

  test('idp2 asks for the account selector, offline access, the three scopes, state and PKCE', async () => {
    await browser().visit('/api/auth/idp2');
    const query = Object.fromEntries(openId.authorizations.at(-1)!);
    assert.equal(query['scope'], 'openid email profile');
    assert.equal(query['access_type'], 'offline');
    assert.equal(query['prompt'], 'select_account');
    assert.equal(query['client_id'], CLIENT.id);
    assert.equal(query['code_challenge_method'], 'S256');
    assert.match(query['state'] ?? '', /^[0-9a-f]{32}$/);
  });

  test('the state cookie is short-lived, for the browser alone, and differs each time', async () => {
    const start = () => web.server.app.inject('/api/auth/idp1');
    const one = String((await start()).headers['set-cookie']);
    assert.match(one, /^svc-oauth-idp1=[\w-]+; Max-Age=600; Path=\/api\/auth\/idp1; HttpOnly; SameSite=Lax$/);
    assert.notEqual(one, String((await start()).headers['set-cookie']));
    assert.equal((await start()).headers['cache-control'], 'no-store');
  });

  test('a refresh token survives an answer that has none', async () => {
    const visitor = browser();
    await visitor.visit('/api/auth/idp1');
    const { db } = web.deps;
    const subject = String(codeHost.state.account.id);
    const link = (await web.accounts.links.find(db.system, 'idp1', subject))!;
    await web.accounts.links.save(db.system, { ...link, tokens: { access_token: 'a', refresh_token: 'r' } });
    await browser().visit('/api/auth/idp1');
    const tokens = await web.accounts.links.tokens(db.system, link.id);
    assert.equal(tokens?.['refresh_token'], 'r');
    assert.match(String(tokens?.['access_token']), /^gho_/);
  });

  test('sign-in is on record', async () => {
    const visitor = browser();
    await visitor.visit('/api/auth/idp2');
    const { id } = await whoIs(visitor.cookies());
    const rows = await web.deps.db.system
      .selectFrom('audit_log')
      .select(['action', 'detail'])
      .where('user_id', '=', id)
      .execute();
    assert.deepEqual(rows, [{ action: 'sign-in', detail: { method: 'idp2' } }]);
  });
});

describe('every error is a redirect', () => {
  const failed = (error: string) => `/login?error=${error}`;

  test('AccessDenied: the user said no, or sign-in was disabled', async () => {
    openId.state.deny = true;
    codeHost.state.deny = 'access_denied';
    for (const provider of PROVIDERS)
      assert.equal(await browser().visit(`/api/auth/${provider}`), failed('AccessDenied'));
    openId.state.deny = false;
    const { id } = await signedIn(web, { email: openId.state.account.email });
    const disabled = (at: Date | null) =>
      web.deps.db.system.updateTable('users').set({ idp2_disabled_at: at }).where('id', '=', id).execute();
    await disabled(new Date());
    const visitor = browser();
    assert.equal(await visitor.visit('/api/auth/idp2'), failed('AccessDenied'));
    assert.deepEqual(visitor.cookies(), {});
    await disabled(null);
    assert.equal(await browser().visit('/api/auth/idp2'), '/dashboard');
    await disabled(new Date());
    assert.equal(await browser().visit('/api/auth/idp2'), failed('AccessDenied'));
    const entries = await web.deps.db.system
      .selectFrom('audit_log')
      .select('detail')
      .where('user_id', '=', id)
      .where('action', '=', 'sign-in-failed')
      .execute();
    const entry = { detail: { method: 'idp2', reason: 'disabled' } };
    assert.deepEqual(entries, [entry, entry]);
  });

  test('IdpAuthFailed: no code, an unknown error, a state that is missing, wrong, old, or of another browser', async () => {
    for (const provider of PROVIDERS) {
      const path = `/api/auth/${provider}/callback`;
      for (const query of ['', '?error=server_error', '?code=x', '?code=x&state=y', '?code=a&code=b&state=c'])
        assert.equal((await browser().ask(path + query)).location, failed('IdpAuthFailed'), query);
    }
    const victim = browser();
    const { location } = await victim.ask('/api/auth/idp1');
    const callback = new URL((await fetch(location, { redirect: 'manual' })).headers.get('location')!);
    const back = callback.pathname + callback.search;
    const other = browser();
    await other.ask('/api/auth/idp1');
    assert.equal((await other.ask(back)).location, failed('IdpAuthFailed'));
    now += 601_000;
    assert.equal((await victim.ask(back)).location, failed('IdpAuthFailed'));
  });

  test('a ticket of one provider does not open the other, and a callback works once', async () => {
    const visitor = browser();
    const { location } = await visitor.ask('/api/auth/idp1');
    const callback = new URL((await fetch(location, { redirect: 'manual' })).headers.get('location')!);
    const cookie = `svc-oauth-idp2=${visitor.cookies()['svc-oauth-idp1']}`;
    const other = await web.server.app.inject({
      url: `/api/auth/idp2/callback${callback.search}`,
      headers: { cookie },
    });
    assert.equal(other.headers.location, failed('IdpAuthFailed'));
    const back = callback.pathname + callback.search;
    const replay = { cookie: `svc-oauth-idp1=${visitor.cookies()['svc-oauth-idp1']}` };
    assert.equal((await visitor.ask(back)).location, '/dashboard');
    assert.equal((await visitor.ask(back)).location, failed('IdpAuthFailed'));
    const again = await web.server.app.inject({ url: back, headers: replay });
    assert.equal(again.headers.location, failed('IdpTokenFailed'));
  });

  test('IdpNotConfigured: id or secret unset', async () => {
    for (const env of [{}, { IDP1_CLIENT_ID: 'x', IDP2_CLIENT_ID: 'x' }]) {
      const bare = await testWeb({ env });
      assert.equal((await bare.server.app.inject('/api/auth/providers')).body, '{"idp1":false,"idp2":false}');
      for (const provider of PROVIDERS)
        for (const path of ['', '/callback?code=x&state=y', '/callback?error=access_denied']) {
          const answer = await bare.server.app.inject(`/api/auth/${provider}${path}`);
          assert.deepEqual([answer.statusCode, answer.headers.location], [302, failed('IdpNotConfigured')]);
        }
      await bare.stop();
    }
  });

  const PATHS = {
    idp1: { token: /access_token/, profile: /\/user/ },
    idp2: { token: /^\/token/, profile: /^\/me/ },
  };
  for (const provider of PROVIDERS)
    for (const how of ['nonsense', 'error', 'wrong-shape', 'closed'] as const)
      test(`${provider} answers with ${how}: IdpTokenFailed, then IdpAuthError`, async () => {
        const { state } = provider === 'idp1' ? codeHost : openId;
        for (const [step, error] of [
          ['token', 'IdpTokenFailed'],
          ['profile', 'IdpAuthError'],
        ] as const) {
          state.trouble = { on: PATHS[provider][step], how };
          const visitor = browser();
          assert.equal(await visitor.visit(`/api/auth/${provider}`), failed(error));
          assert.deepEqual(visitor.cookies(), {});
        }
      });

  test('a provider that is silent is given up on', async () => {
    openId.state.trouble = { on: /^\/me/, how: 'silent' };
    codeHost.state.trouble = { on: /access_token/, how: 'silent' };
    const ways = await Promise.all([browser().visit('/api/auth/idp2'), browser().visit('/api/auth/idp1')]);
    assert.deepEqual(ways, [failed('IdpAuthError'), failed('IdpTokenFailed')]);
  });

  test('a provider that sends a byte now and then is given up on, too', async () => {
    openId.state.trouble = { on: /^\/token/, how: 'slow' };
    codeHost.state.trouble = { on: /\/user/, how: 'slow' };
    const began = Date.now();
    const ways = await Promise.all([browser().visit('/api/auth/idp2'), browser().visit('/api/auth/idp1')]);
    assert.deepEqual(ways, [failed('IdpTokenFailed'), failed('IdpAuthError')]);
    assert.ok(Date.now() - began < 20_000);
  });

  test('a provider that is gone when the browser comes back', async () => {
    const host = await startCodeHost();
    const left = await testWeb({
      env: { IDP1_CLIENT_ID: CLIENT.id, IDP1_CLIENT_SECRET: CLIENT.secret, IDP1_BASE_URL: host.address },
    });
    try {
      const visitor = createBrowser(left.server.app, BASE);
      const { location } = await visitor.ask('/api/auth/idp1');
      const callback = new URL((await fetch(location, { redirect: 'manual' })).headers.get('location')!);
      host.close();
      assert.equal((await visitor.ask(callback.pathname + callback.search)).location, failed('IdpTokenFailed'));
    } finally {
      await left.stop();
    }
  });

  test('a provider that cannot be found is an error of the sign-in page, and found when it is back', async () => {
    openId.state.trouble = { on: /openid-configuration/, how: 'error' };
    const bare = await testWeb({
      env: { IDP2_CLIENT_ID: 'x', IDP2_CLIENT_SECRET: 'y', IDP2_ISSUER: openId.issuer },
    });
    try {
      assert.equal((await bare.server.app.inject('/api/auth/idp2')).headers.location, failed('IdpAuthError'));
      openId.state.trouble = undefined;
      assert.match(String((await bare.server.app.inject('/api/auth/idp2')).headers.location), /\/auth\?/);
    } finally {
      await bare.stop();
    }
  });

  test('a failing database is IdpAuthError', async () => {
    const { signIn } = web.accounts.sessions;
    web.accounts.sessions.signIn = () => Promise.reject(new Error('the disk is full'));
    try {
      assert.equal(await browser().visit('/api/auth/idp1'), failed('IdpAuthError'));
    } finally {
      web.accounts.sessions.signIn = signIn;
    }
  });
});

test('where addresses need no proof, linking leaves the password', async () => {
  const lax = await testWeb({
    env: { IDP1_CLIENT_ID: CLIENT.id, IDP1_CLIENT_SECRET: CLIENT.secret, IDP1_BASE_URL: codeHost.address },
  });
  try {
    const email = codeHost.state.account.emails[0]!.email;
    await signedIn(lax, { email, passwordHash: 'kept', verified: false });
    assert.equal(await createBrowser(lax.server.app, BASE).visit('/api/auth/idp1'), '/dashboard');
    assert.equal((await lax.accounts.users.byEmail(lax.deps.db.system, email))?.password_hash, 'kept');
  } finally {
    await lax.stop();
  }
});
