import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { SignJWT } from 'jose';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { startIssuer } from '@troupe/testing/identity/signed-tokens';
import { testWeb, type TestWeb } from '../../testing.ts';

type Issuer = Awaited<ReturnType<typeof startIssuer>>;

const AUDIENCE = 'troupe.example';
const SECRET = 'federated-test-secret';
const TOKEN = '0x00000000000000000000000000000000000000aa';
const MIN = 10n ** 18n;
const DAY_S = 86_400;
let chain: TestChain;
let issuer: Issuer;
let key: Awaited<ReturnType<Issuer['newKey']>>;
let web: TestWeb;
let holder: string;
let pauper: string;
let now = Date.now();

before(async () => {
  issuer = await startIssuer();
  key = await issuer.newKey();
  chain = await startTestChain({ chainId: 8453 });
  await chain.token(TOKEN, { symbol: 'GATE', name: 'Gate Token', decimals: 18 });
  const [rich, poor] = [await chain.account(), await chain.account()];
  await chain.mint(TOKEN, rich.address, MIN);
  await chain.mint(TOKEN, poor.address, MIN - 1n);
  [holder, pauper] = [rich.address, poor.address];
  web = await testWeb({
    clock: () => new Date(now),
    env: {
      FEDERATED_ISSUER: issuer.address,
      FEDERATED_AUDIENCE: AUDIENCE,
      FEDERATED_SESSION_SECRET: SECRET,
      L2_RPC_URL: chain.rpcUrl,
      GATING_TOKEN_ADDRESS: TOKEN,
    },
  });
});
after(async () => {
  await web.stop();
  issuer.close();
  await chain.close();
});

const seconds = () => Math.floor(now / 1000);
const identity = (given: object = {}) =>
  issuer.sign(key, { iss: issuer.address, aud: AUDIENCE, sub: '6841', exp: seconds() + 600, ...given });

async function ask(url: string, payload?: object, from = web) {
  const answer = await from.server.app.inject({
    method: payload ? 'POST' : 'GET',
    url,
    ...(payload ? { payload } : {}),
  });
  return { status: answer.statusCode, body: answer.json() };
}
const verify = (payload: object, from = web) => ask('/api/auth/federated/verify', payload, from);
const refresh = (payload: object) => ask('/api/auth/federated/refresh', payload);

/** The claims of a session token, when its signature is right. */
function claimsOf(token: string): Record<string, unknown> {
  const [data = '', signature, ...rest] = token.split('.');
  assert.deepEqual(rest, []);
  assert.equal(signature, createHmac('sha256', SECRET).update(data).digest('base64url'));
  return JSON.parse(Buffer.from(data, 'base64url').toString());
}

describe('federated sessions', () => {
  test('a token of the issuer becomes a session token of 24 hours, signed with the secret of its own', async () => {
    const { status, body } = await verify({ fidToken: await identity() });
    assert.equal(status, 200);
    const { sessionToken, refreshToken, ...rest } = body;
    assert.deepEqual(rest, { success: true, address: null, tokenGated: false, accessLevel: 'basic' });
    assert.match(refreshToken, /^[0-9a-f]{64}$/);
    assert.deepEqual(claimsOf(sessionToken), {
      sub: '6841',
      fid: '6841',
      address: null,
      verified: false,
      iat: seconds(),
      exp: seconds() + DAY_S,
    });
  });

  test('an address that holds the token passes the gate; in full only when the issuer says whose it is', async () => {
    const claimed = await verify({ fidToken: await identity(), address: holder });
    assert.deepEqual([claimed.body.tokenGated, claimed.body.accessLevel], [true, 'basic']);
    assert.equal(claimsOf(claimed.body.sessionToken)['verified'], false);
    for (const given of [{ address: holder.toLowerCase() }, { addresses: [pauper, holder] }]) {
      const own = await verify({ fidToken: await identity({ fid: 7, ...given }), address: holder });
      assert.deepEqual([own.body.tokenGated, own.body.accessLevel], [true, 'full']);
      const { fid, address, verified } = claimsOf(own.body.sessionToken);
      assert.deepEqual([fid, address, verified], ['7', holder, true]);
    }
  });

  test('403: an address that holds too little', async () => {
    const { status, body } = await verify({ fidToken: await identity(), address: pauper });
    assert.deepEqual([status, body], [403, { error: 'Token gating failed', required: TOKEN, minBalance: String(MIN) }]);
  });

  test('401: no token; 400: no address', async () => {
    for (const body of [{}, { fidToken: '' }, { fidToken: 5 }, { fidToken: null }])
      assert.deepEqual(await verify(body), { status: 401, body: { error: 'Missing identity token' } });
    for (const address of ['0x12', 'bob', 5])
      assert.deepEqual(await verify({ fidToken: await identity(), address }), {
        status: 400,
        body: { error: 'Invalid Ethereum address' },
      });
  });

  test('401: a token that does not verify', async () => {
    const unpublished = await issuer.newKey({ publish: false });
    const claims = { iss: issuer.address, aud: AUDIENCE, sub: '1', exp: seconds() + 600 };
    const shared = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: key.kid })
      .sign(new TextEncoder().encode(JSON.stringify(key.jwk)));
    const bad = [
      'nonsense',
      'a.b.c',
      shared,
      await issuer.sign(unpublished, claims),
      await issuer.sign(unpublished, claims, { kid: key.kid }),
      await identity({ iss: 'https://evil.example' }),
      await identity({ aud: 'another.example' }),
      await identity({ exp: seconds() - 60 }),
      await identity({ exp: undefined }),
      await identity({ sub: undefined }),
      `${(await identity()).slice(0, -4)}AAAA`,
    ];
    for (const fidToken of bad)
      assert.deepEqual(await verify({ fidToken }), { status: 401, body: { error: 'Invalid identity token' } });
  });

  test('503: not configured, or the issuer or the chain does not answer', async () => {
    const fidToken = await identity();
    const cases: [env: Record<string, string>, body: object, error: string][] = [
      [{}, { fidToken }, 'Federated identity is not configured'],
      [{ FEDERATED_ISSUER: issuer.address }, { fidToken }, 'Federated identity is not configured'],
      [
        { FEDERATED_ISSUER: 'http://127.0.0.1:1', FEDERATED_AUDIENCE: AUDIENCE },
        { fidToken },
        'Verification unavailable',
      ],
      [
        { FEDERATED_ISSUER: issuer.address, FEDERATED_AUDIENCE: AUDIENCE, GATING_TOKEN_ADDRESS: TOKEN },
        { fidToken, address: holder },
        'Verification unavailable',
      ],
    ];
    for (const [env, body, error] of cases) {
      const bare = await testWeb({ env, clock: () => new Date(now) });
      try {
        assert.deepEqual(await verify(body, bare), { status: 503, body: { error } });
      } finally {
        await bare.stop();
      }
    }
  });

  test('a refresh token works once, also when used many times at once, and its successor goes on', async () => {
    const first = await verify({ fidToken: await identity({ address: holder }), address: holder });
    const body = { refreshToken: first.body.refreshToken };
    now += 3_600_000;
    const answers = await Promise.all(Array.from({ length: 5 }, () => refresh(body)));
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [200, 401, 401, 401, 401],
    );
    const { success, expiresIn, sessionToken, refreshToken } = answers.find(({ status }) => status === 200)!.body;
    assert.deepEqual([success, expiresIn], [true, DAY_S]);
    const { address, verified, iat } = claimsOf(sessionToken);
    assert.deepEqual([address, verified, iat], [holder, true, seconds()]);
    assert.equal((await refresh({ refreshToken })).status, 200);
  });

  test('refreshing ends 30 days after the sign-in', async () => {
    let { refreshToken } = (await verify({ fidToken: await identity() })).body;
    now += 29 * DAY_S * 1000;
    ({ refreshToken } = (await refresh({ refreshToken })).body);
    now += 2 * DAY_S * 1000;
    assert.deepEqual(await refresh({ refreshToken }), { status: 401, body: { error: 'Invalid refresh token' } });
  });

  test('400: no refresh token; 401: one that nobody gave out, a session token among them', async () => {
    for (const body of [{}, { refreshToken: '' }, { refreshToken: 5 }])
      assert.deepEqual(await refresh(body), { status: 400, body: { error: 'Missing refresh token' } });
    const { sessionToken } = (await verify({ fidToken: await identity() })).body;
    for (const refreshToken of ['nonsense', sessionToken, '0'.repeat(64)])
      assert.deepEqual(await refresh({ refreshToken }), { status: 401, body: { error: 'Invalid refresh token' } });
  });

  test('only hashes of refresh tokens are stored', async () => {
    const { refreshToken } = (await verify({ fidToken: await identity() })).body;
    const rows = await web.deps.db.system.selectFrom('federated_refresh_tokens').selectAll().execute();
    assert.ok(!JSON.stringify(rows).includes(refreshToken));
  });

  test('GET tells what the endpoints take', async () => {
    for (const [path, required, optional] of [
      ['/api/auth/federated/verify', ['fidToken'], ['address']],
      ['/api/auth/federated/refresh', ['refreshToken'], []],
    ] as const) {
      const { status, body } = await ask(path);
      assert.equal(status, 200);
      const { description, ...rest } = body;
      assert.deepEqual(rest, { endpoint: path, methods: ['GET', 'POST'], required, optional });
      assert.equal(typeof description, 'string');
    }
  });
});

describe('token gating', () => {
  const path = '/api/auth/token-gating/verify';
  const gate = { tokenGated: true, minBalance: String(MIN), token: 'Gate Token', chain: 'Base' };

  test('POST: who holds enough has access', async () => {
    for (const [address, hasAccess] of [
      [holder, true],
      [holder.toLowerCase(), true],
      [pauper, false],
    ] as const) {
      const { status, body } = await ask(path, { fid: 6841, address });
      const { message, timestamp, ...rest } = body;
      assert.equal(status, 200);
      assert.deepEqual(rest, { fid: 6841, address, hasAccess, ...gate });
      assert.equal(typeof message, 'string');
      assert.equal(timestamp, new Date(now).toISOString());
    }
  });

  test('GET: the same by address', async () => {
    assert.deepEqual((await ask(`${path}?address=${pauper}`)).body, {
      address: pauper,
      hasAccess: false,
      ...gate,
      contractAddress: TOKEN,
    });
    assert.equal((await ask(`${path}?address=${holder}`)).body.hasAccess, true);
  });

  test('400', async () => {
    for (const body of [{}, { fid: 1 }, { address: holder }, { fid: '', address: holder }, { fid: 1, address: '' }])
      assert.deepEqual(await ask(path, body), { status: 400, body: { error: 'Missing fid or address' } });
    for (const address of ['0x12', 'bob', `${holder}0`])
      assert.deepEqual(await ask(path, { fid: 1, address }), {
        status: 400,
        body: { error: 'Invalid Ethereum address' },
      });
    for (const query of ['', '?address=', '?address=bob', `?address=${holder}&address=${holder}`])
      assert.deepEqual(await ask(path + query), {
        status: 400,
        body: { error: 'Invalid or missing address parameter' },
      });
  });

  test('without a gating token there is no gate; with one and no chain it is 503', async () => {
    const open = await testWeb();
    const blind = await testWeb({ env: { GATING_TOKEN_ADDRESS: TOKEN, L2_RPC_URL: 'http://127.0.0.1:1' } });
    try {
      const { hasAccess, tokenGated, token, contractAddress } = (
        await ask(`${path}?address=${holder}`, undefined, open)
      ).body;
      assert.deepEqual(
        { hasAccess, tokenGated, token, contractAddress },
        { hasAccess: true, tokenGated: false, token: null, contractAddress: null },
      );
      const unavailable = { status: 503, body: { error: 'Verification unavailable' } };
      assert.deepEqual(await ask(`${path}?address=${holder}`, undefined, blind), unavailable);
      assert.deepEqual(await ask(path, { fid: 1, address: holder }, blind), unavailable);
    } finally {
      await open.stop();
      await blind.stop();
    }
  });
});
