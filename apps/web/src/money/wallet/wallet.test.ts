import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { STABLECOINS } from '@troupe/chain';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { fund } from '@troupe/testing/money/fund';
import { signedIn, testWeb, type TestWeb } from '../../testing.ts';

const KEY = `0x${'11'.repeat(32)}`;
const ADDRESS_OF_KEY = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A';

const getter =
  (web: TestWeb) =>
  async (url: string, headers: Record<string, string> = {}) => {
    const answer = await web.server.app.inject({ url, headers });
    return { status: answer.statusCode, body: answer.json() };
  };
const poster =
  (web: TestWeb) =>
  async (url: string, payload?: object, headers: Record<string, string> = {}) => {
    const answer = await web.server.app.inject({ method: 'POST', url, payload, headers });
    return { status: answer.statusCode, body: answer.json() };
  };

describe('wallets without a chain', () => {
  let web: TestWeb;
  let get: ReturnType<typeof getter>;
  let post: ReturnType<typeof poster>;
  before(async () => {
    web = await testWeb();
    get = getter(web);
    post = poster(web);
  });
  after(() => web.stop());

  test('the own wallet needs a session', async () => {
    assert.deepEqual(await get('/api/wallet'), { status: 401, body: { error: 'Unauthorized' } });
    assert.deepEqual(await post('/api/wallet', { action: 'nonsense' }), {
      status: 401,
      body: { error: 'Unauthorized' },
    });
    assert.equal((await post('/api/wallet/create', {})).status, 401);
    assert.equal((await post('/api/wallet/cdp', {})).status, 401);
    const { body } = await get('/api/wallet/address');
    assert.equal(body.authenticated, false);
    assert.equal(body.needsAuth, true);
    assert.equal(typeof body.message, 'string');
  });

  test('is made once, shown, and never gives its seed away', async () => {
    const { headers } = await signedIn(web);
    const none = (await get('/api/wallet', headers)).body;
    assert.equal(none.address, null);
    assert.equal(none.hasWallet, false);
    assert.equal(typeof none.message, 'string');
    assert.equal((await get('/api/wallet/address', headers)).body.address, null);
    assert.deepEqual(await post('/api/wallet', { action: 'get_seed' }, headers), {
      status: 404,
      body: { error: 'No wallet found' },
    });

    const made = await post('/api/wallet', { action: 'create' }, headers);
    assert.equal(made.status, 200);
    assert.match(made.body.address, /^0x[0-9a-fA-F]{40}$/);
    assert.equal(made.body.network, 'Tempo');
    assert.deepEqual(await post('/api/wallet', { action: 'create' }, headers), {
      status: 400,
      body: { error: 'Wallet already exists' },
    });
    const shown = (await get('/api/wallet', headers)).body;
    assert.deepEqual([shown.address, shown.hasWallet, shown.balance], [made.body.address, true, '0.00']);
    await fund(web.deps.db, made.body.address, 25_500_000n);
    assert.equal((await get('/api/wallet', headers)).body.balance, '25.50');
    assert.deepEqual((await get('/api/wallet/address', headers)).body, {
      authenticated: true,
      address: made.body.address,
    });
    const seed = await post('/api/wallet', { action: 'get_seed' }, headers);
    assert.deepEqual(Object.keys(seed.body).sort(), ['address', 'createdAt', 'network', 'warning']);
    assert.deepEqual(await post('/api/wallet', { action: 'export_seed' }, headers), {
      status: 403,
      body: { error: 'Seed export is disabled' },
    });
  });

  test('ten requests at once make one wallet', async () => {
    const { headers } = await signedIn(web);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post('/api/wallet', { action: 'create' }, headers)),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal(answers.filter(({ status }) => status === 400).length, 9);
  });

  test('an action that is none is refused', async () => {
    const { headers } = await signedIn(web);
    for (const payload of [{}, { action: 'x' }, { action: 1 }, undefined]) {
      const { status, body } = await post('/api/wallet', payload, headers);
      assert.equal(status, 400);
      assert.equal(body.error, 'Invalid action. Use: create, get_seed, or export_seed');
    }
  });

  test('a key can be brought along, or a further one made; neither comes back', async () => {
    const person = await signedIn(web);
    assert.deepEqual((await get('/api/wallet/cdp')).body, {
      status: 'not_configured',
      type: 'local',
      supportedChains: ['Tempo'],
    });
    assert.deepEqual(await post('/api/wallet/cdp', { privateKey: KEY }, person.headers), {
      status: 200,
      body: { success: true, address: ADDRESS_OF_KEY, network: 'Tempo' },
    });
    assert.equal((await post('/api/wallet/cdp', { privateKey: KEY }, person.headers)).status, 400);
    assert.equal((await post('/api/wallet/cdp', undefined, person.headers)).status, 200);
    for (const privateKey of ['0x12', 'hello', `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`, 7]) {
      assert.deepEqual(await post('/api/wallet/cdp', { privateKey }, person.headers), {
        status: 400,
        body: { error: 'Invalid private key' },
      });
    }
    const rows = await web.deps.db.system.selectFrom('wallets').selectAll().where('user_id', '=', person.id).execute();
    assert.ok(rows.length === 2 && !JSON.stringify(rows).includes('1111111111'));
  });

  test('another user sees none of it', async () => {
    const [one, other] = [await signedIn(web), await signedIn(web)];
    await post('/api/wallet', { action: 'create' }, one.headers);
    assert.equal((await get('/api/wallet', other.headers)).body.hasWallet, false);
  });

  test('balances and transactions say what is wrong', async () => {
    for (const path of ['/api/wallet?address=', '/api/wallet/transactions', '/api/wallet/transactions?address=']) {
      assert.deepEqual(await get(path), { status: 400, body: { error: 'Missing address parameter' } });
    }
    const bad = ['0x12', `0x${'a'.repeat(41)}`, `0x${'g'.repeat(40)}`, 'So11111111111111111111111111111111111111112'];
    for (const address of bad) {
      assert.deepEqual(await get(`/api/wallet?address=${address}`), {
        status: 400,
        body: { error: 'Invalid address' },
      });
      assert.equal((await get(`/api/wallet/transactions?address=${address}`)).body.error, 'Invalid address');
    }
    for (const path of ['/api/wallet', '/api/wallet/transactions']) {
      assert.deepEqual(await get(`${path}?address=${ADDRESS_OF_KEY}`), {
        status: 500,
        body: { error: 'Chain RPC not configured' },
      });
    }
  });

  test('custody that is not configured says how to', async () => {
    const { headers } = await signedIn(web);
    assert.deepEqual(await post('/api/wallet/create', {}, headers), { status: 400, body: { error: 'Email required' } });
    const { status, body } = await post('/api/wallet/create', { email: 'a@b.co' }, headers);
    assert.equal(status, 500);
    assert.equal(body.error, 'CDP is not configured');
    assert.match(body.setup, /CDP_PROJECT_ID/);
  });
});

describe('wallets on a chain', () => {
  let chain: TestChain;
  let web: TestWeb;
  let get: ReturnType<typeof getter>;
  const path = STABLECOINS[0]!.address;
  before(async () => {
    chain = await startTestChain({ chainId: 42431 });
    await chain.token(path, { symbol: 'pathUSD' });
    web = await testWeb({ env: { CHAIN_RPC_URL: chain.rpcUrl, CHAIN_TESTNET: 'true' } });
    get = getter(web);
  });
  after(async () => {
    await web.stop();
    await chain.close();
  });

  test('anybody can ask for the balance of an address', async () => {
    const { address } = await chain.account();
    await chain.mint(path, address, 12_345_678n);
    const { status, body } = await get(`/api/wallet?address=${address}`);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      address,
      chain: 'Tempo Testnet',
      chainId: 42431,
      testnet: true,
      totalUsd: '12.34',
      primaryToken: { address: path, name: 'pathUSD', symbol: 'pathUSD', decimals: 6, balance: '12.345678' },
      allTokens: [{ address: path, name: 'pathUSD', symbol: 'pathUSD', balance: '12.345678' }],
    });
  });

  test('transfers of the own wallet appear, newest first', async () => {
    const { headers } = await signedIn(web);
    const { address } = (await poster(web)('/api/wallet', { action: 'create' }, headers)).body;
    await chain.mint(path, address, 1_500_000n);
    await chain.mint(path, address, 20_000n);
    assert.equal((await get('/api/wallet', headers)).body.balance, '1.52');
    await web.chains.indexer?.catchUp();
    const { status, body } = await get(`/api/wallet/transactions?address=${address}`);
    assert.equal(status, 200);
    assert.equal(body.chainId, 42431);
    assert.ok(body.currentBlock > 0);
    assert.match(body.explorerUrl, new RegExp(`${address}$`));
    assert.deepEqual(
      body.transactions.map((one: Record<string, unknown>) => [one.direction, one.symbol, one.amount]),
      [
        ['in', 'pathUSD', '0.02'],
        ['in', 'pathUSD', '1.5'],
      ],
    );
    assert.equal((await get(`/api/wallet/transactions?address=${address}&limit=1`)).body.transactions.length, 1);
    const { address: stranger } = await chain.account();
    assert.deepEqual((await get(`/api/wallet/transactions?address=${stranger}`)).body.transactions, []);
  });

  test('an RPC that lies about its chain, or is down, is a 500', async () => {
    for (const env of [
      { CHAIN_RPC_URL: chain.rpcUrl, CHAIN_TESTNET: 'false' },
      { CHAIN_RPC_URL: 'http://127.0.0.1:1' },
    ]) {
      const other = await testWeb({ env });
      const { status, body } = await getter(other)(`/api/wallet?address=${ADDRESS_OF_KEY}`);
      assert.deepEqual({ status, body }, { status: 500, body: { error: 'Failed to fetch balance' } });
      const { body: transactions } = await getter(other)(`/api/wallet/transactions?address=${ADDRESS_OF_KEY}`);
      assert.equal(transactions.error, 'Failed to fetch transactions');
      await other.stop();
    }
  });
});
