import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createSiweMessage } from 'viem/siwe';
import { startTestChain, type TestChain, type TestWallet } from '@troupe/testing/chain/chain';
import { addAuthenticator, testWeb, type TestWeb } from '../../testing.ts';

const DOMAIN = '127.0.0.1:3000';
let chain: TestChain;
let web: TestWeb;
let now = Date.now();

before(async () => {
  chain = await startTestChain({ chainId: 8453 });
  web = await testWeb({ clock: () => new Date(now), env: { L2_RPC_URL: chain.rpcUrl } });
});
after(async () => {
  await web.stop();
  await chain.close();
});

const newNonce = async (method: 'GET' | 'POST' = 'GET', from = web): Promise<string> =>
  (await from.server.app.inject({ method, url: '/api/auth/nonce' })).json().nonce;

type Given = Partial<Parameters<typeof createSiweMessage>[0]>;

async function messageFor(wallet: { address: `0x${string}` }, given: Given = {}): Promise<string> {
  return createSiweMessage({
    address: wallet.address,
    chainId: 8453,
    domain: DOMAIN,
    nonce: given.nonce ?? (await newNonce()),
    uri: `http://${DOMAIN}`,
    version: '1',
    issuedAt: new Date(now),
    ...given,
  });
}

const post = (payload: object, from = web) =>
  from.server.app.inject({ method: 'POST', url: '/api/wallet-auth', payload });

async function signIn(wallet: TestWallet, given: Given = {}) {
  const message = await messageFor(wallet, given);
  return post({ address: wallet.address, message, signature: await wallet.signMessage(message) });
}

const INVALID = [401, { error: 'Invalid signature' }];

describe('wallet sign-in', () => {
  test('GET and POST give a nonce, never the same', async () => {
    const nonces = [await newNonce('GET'), await newNonce('POST'), await newNonce('POST')];
    for (const nonce of nonces) assert.match(nonce, /^[0-9a-f]{32}$/);
    assert.equal(new Set(nonces).size, 3);
  });

  for (const deployed of [true, false])
    test(`a ${deployed ? 'deployed' : 'not yet deployed'} smart-contract wallet signs in; the first time makes the user`, async () => {
      const wallet = await chain.smartWallet({ deployed });
      const answer = await signIn(wallet);
      const lower = wallet.address.toLowerCase();
      const name = `Wallet:${lower.slice(0, 6)}...${lower.slice(-4)}`;
      assert.equal(answer.statusCode, 200, answer.body);
      const { ok, user } = answer.json();
      assert.deepEqual([ok, user.name], [true, name]);
      const cookie = String(answer.headers['set-cookie']);
      assert.match(cookie, /^svc-session=[0-9a-f]{64}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
      const session = await web.server.app.inject({
        url: '/api/auth/session',
        headers: { cookie: cookie.split(';')[0]! },
      });
      assert.deepEqual(session.json().user, { id: user.id, name, email: `${lower}@wallet.svc`, isAdmin: false });
      const again = await signIn(wallet);
      assert.equal(again.json().user.id, user.id);
    });

  test('where nobody new is taken, a wallet that is known signs in and another does not', async () => {
    const known = await chain.smartWallet({ deployed: true });
    await signIn(known);
    await web.deps.db.system.insertInto('joining').values({ mode: 'closed', changed_at: new Date() }).execute();
    try {
      const refused = await signIn(await chain.smartWallet({ deployed: true }));
      assert.deepEqual([refused.statusCode, refused.json()], [403, { error: 'No new accounts are made here' }]);
      assert.equal((await signIn(known)).statusCode, 200);
    } finally {
      await web.deps.db.system.deleteFrom('joining').execute();
    }
  });

  test('with a second factor the signature is the first step alone', async () => {
    const wallet = await chain.smartWallet({ deployed: true });
    const { user } = (await signIn(wallet)).json();
    const recoveryCode = await addAuthenticator(web, { ...user, email: 'w@wallet.svc' });
    const again = await signIn(wallet);
    assert.deepEqual([again.json().ok, again.json().secondStep.methods], [false, ['totp', 'recovery']]);
    const cookie = String(again.headers['set-cookie']).split(';')[0]!;
    assert.match(cookie, /^svc-sign-in=/);
    const passed = await web.server.app.inject({
      method: 'POST',
      url: '/api/auth/second-step',
      headers: { cookie },
      payload: { recoveryCode },
    });
    assert.equal(passed.json().user.id, user.id);
  });

  test('a user with the wallet-derived address gets the wallet linked', async () => {
    const wallet = await chain.smartWallet({ deployed: true });
    const { db } = web.deps;
    const email = `${wallet.address.toLowerCase()}@wallet.svc`;
    const known = await web.accounts.users.create(db.system, { email, name: 'Known' });
    assert.deepEqual((await signIn(wallet)).json().user, { id: known?.id, name: 'Known' });
    const link = await web.accounts.links.find(db.system, 'wallet', wallet.address.toLowerCase());
    assert.equal(link?.userId, known?.id);
  });

  test('400: anything missing', async () => {
    const full = { address: '0x1', message: 'm', signature: '0x' };
    for (const body of [{}, { ...full, address: undefined }, { ...full, message: '' }, { ...full, signature: 5 }, []]) {
      const answer = await post(body);
      assert.deepEqual([answer.statusCode, answer.json()], [400, { error: 'Missing: address, message, signature' }]);
    }
  });

  test('401: another domain or chain, expired, not yet valid, issued in the future, unknown nonce, nonsense', async () => {
    const wallet = await chain.smartWallet({ deployed: true });
    const forged: Record<string, Given> = {
      domain: { domain: 'evil.example' },
      'domain with another port': { domain: '127.0.0.1:3001' },
      chain: { chainId: 1 },
      expired: { expirationTime: new Date(now - 1000) },
      'not yet valid': { notBefore: new Date(now + 60_000) },
      future: { issuedAt: new Date(now + 300_000) },
      nonce: { nonce: 'neverhandedout12' },
    };
    for (const [what, given] of Object.entries(forged)) {
      const answer = await signIn(wallet, given);
      assert.deepEqual([answer.statusCode, answer.json()], INVALID, what);
      assert.equal(answer.headers['set-cookie'], undefined);
    }
    const message = await messageFor(wallet);
    const signature = await wallet.signMessage(message);
    for (const body of [
      { address: wallet.address, message: 'hello', signature },
      { address: wallet.address, message: `${message}\nResources:\n- https://evil.example`, signature },
      { address: wallet.address, message: message + ' '.repeat(5000), signature },
      { address: wallet.address, message, signature: '0x' },
      { address: wallet.address, message, signature: 'zz' },
      { address: 'bob', message, signature },
    ]) {
      const answer = await post(body);
      assert.deepEqual([answer.statusCode, answer.json()], INVALID);
    }
    assert.equal((await post({ address: wallet.address, message, signature })).statusCode, 200);
  });

  test('401: an address that differs from the message, or from the signer', async () => {
    const wallet = await chain.smartWallet({ deployed: true });
    const other = await chain.smartWallet({ deployed: true });
    const message = await messageFor(wallet);
    const own = { address: wallet.address, message, signature: await wallet.signMessage(message) };
    const theirs = await other.signMessage(message);
    for (const body of [
      { ...own, address: other.address },
      { ...own, signature: theirs },
    ]) {
      const answer = await post(body);
      assert.deepEqual([answer.statusCode, answer.json()], INVALID);
    }
  });

  test('401: a nonce works once, also when it comes many times at once', async () => {
    const wallet = await chain.smartWallet({ deployed: true });
    const message = await messageFor(wallet);
    const body = { address: wallet.address, message, signature: await wallet.signMessage(message) };
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(body)));
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode).sort((a, b) => a - b),
      [200, 401, 401, 401, 401],
    );
    const again = await post(body);
    assert.deepEqual([again.statusCode, again.json()], INVALID);
  });

  test('401: a nonce lives ten minutes', async () => {
    const wallet = await chain.smartWallet({ deployed: true });
    const nonce = await newNonce();
    const late = await newNonce();
    now += 599_000;
    assert.equal((await signIn(wallet, { nonce })).statusCode, 200);
    now += 2_000;
    assert.equal((await signIn(wallet, { nonce: late })).statusCode, 401);
    await newNonce();
    const left = await web.deps.db.system
      .selectFrom('wallet_nonces')
      .select('nonce')
      .where('nonce', '=', late)
      .execute();
    assert.deepEqual(left, []);
  });

  test('401: an externally owned account', async () => {
    const account = await chain.account();
    const message = await messageFor(account);
    const answer = await post({ address: account.address, message, signature: await account.signMessage({ message }) });
    assert.deepEqual([answer.statusCode, answer.json()], [401, { error: 'Only smart-contract wallets are supported' }]);
  });

  test('503: a network that does not answer, or is not configured; the nonce still works afterwards', async () => {
    const wallet = await chain.smartWallet({ deployed: true });
    const message = await messageFor(wallet);
    const body = { address: wallet.address, message, signature: await wallet.signMessage(message) };
    for (const env of [{ L2_RPC_URL: 'http://127.0.0.1:1' }, {}]) {
      const down = await testWeb({ env, db: web.deps.db, clock: () => new Date(now) });
      try {
        const answer = await post(body, down);
        assert.deepEqual([answer.statusCode, answer.json()], [503, { error: 'Verification unavailable' }]);
      } finally {
        await down.stop();
      }
    }
    assert.equal((await post(body)).statusCode, 200);
  });
});
