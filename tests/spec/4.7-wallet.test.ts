import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { STABLECOINS } from '@troupe/chain';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { addUser, startServices, type Services } from '@troupe/testing/services/services';

/** Wallets, balances and transactions, as the contract's tables of endpoints, errors and limits say. */

let chain: TestChain;
let services: Services;
let bare: Services;
const [first] = STABLECOINS;

before(async () => {
  chain = await startTestChain({ chainId: 4217 });
  for (const { address, symbol } of STABLECOINS) await chain.token(address, { symbol });
  services = await startServices({ CHAIN_RPC_URL: chain.rpcUrl });
  bare = await startServices();
});
after(async () => {
  await services.stop();
  await bare.stop();
  await chain.close();
});

interface Asked {
  body?: unknown;
  key?: string;
  base?: string;
}

async function ask(method: string, path: string, { body, key, base = services.web }: Asked = {}) {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
  return { status: response.status, body: (await response.json()) as any };
}

const refused = (status: number, error: string) => ({ status, body: { error } });

describe('GET /api/wallet?address=', () => {
  it('is the stablecoin balance record, for anybody', async () => {
    const { address } = await chain.account();
    for (const [index, token] of STABLECOINS.entries()) {
      await chain.mint(token.address, address, BigInt(index) * 1_000_000n);
    }
    const { status, body } = await ask('GET', `/api/wallet?address=${address}`);
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), [
      'address',
      'chain',
      'chainId',
      'testnet',
      'totalUsd',
      'primaryToken',
      'allTokens',
    ]);
    assert.deepEqual([body.address, body.chainId, body.testnet], [address, 4217, false]);
    assert.equal(body.totalUsd, '55.00');
    // the first funded one, in the order of the table; only those with a balance are listed
    assert.equal(body.primaryToken.symbol, 'alphaUSD');
    assert.deepEqual(Object.keys(body.primaryToken), ['address', 'name', 'symbol', 'decimals', 'balance']);
    assert.equal(body.allTokens.length, 10);
    assert.deepEqual(Object.keys(body.allTokens[0]), ['address', 'name', 'symbol', 'balance']);
  });

  it('400 without an address or with none that is one; 500 when the chain does not answer', async () => {
    assert.deepEqual(await ask('GET', '/api/wallet?address='), refused(400, 'Missing address parameter'));
    for (const address of [
      '0x1',
      `0x${'0'.repeat(41)}`,
      '0'.repeat(42),
      '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
    ]) {
      assert.deepEqual(await ask('GET', `/api/wallet?address=${address}`), refused(400, 'Invalid address'));
    }
    const { address } = await chain.account();
    assert.equal((await ask('GET', `/api/wallet?address=${address}`, { base: bare.web })).status, 500);
  });
});

describe('the own wallet', () => {
  it('GET is 401 without a session, and says that there is none yet', async () => {
    assert.deepEqual(await ask('GET', '/api/wallet'), refused(401, 'Unauthorized'));
    const { key } = await addUser(services.runtime);
    const { status, body } = await ask('GET', '/api/wallet', { key });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ['address', 'balance', 'network', 'hasWallet', 'message']);
    assert.deepEqual([body.address, body.hasWallet], [null, false]);
  });

  it('create, get_seed and export_seed', async () => {
    const { key } = await addUser(services.runtime);
    const act = (action: unknown) => ask('POST', '/api/wallet', { key, body: { action } });
    assert.deepEqual(await ask('POST', '/api/wallet', { body: { action: 'create' } }), refused(401, 'Unauthorized'));
    assert.equal((await act('get_seed')).status, 404);
    const made = await act('create');
    assert.equal(made.status, 200);
    assert.deepEqual(Object.keys(made.body), ['address', 'network', 'message']);
    assert.equal((await act('create')).status, 400);
    assert.deepEqual(Object.keys((await act('get_seed')).body), ['address', 'network', 'createdAt', 'warning']);
    assert.equal((await act('export_seed')).status, 403);
    for (const action of ['', 'destroy', 7, null]) assert.equal((await act(action)).status, 400);
    await chain.mint(first!.address, made.body.address, 7_259_999n);
    const { body } = await ask('GET', '/api/wallet', { key });
    assert.deepEqual(Object.keys(body), ['address', 'balance', 'network', 'hasWallet', 'createdAt']);
    assert.deepEqual([body.address, body.balance, body.hasWallet], [made.body.address, '7.25', true]);
    assert.deepEqual((await ask('GET', '/api/wallet/address', { key })).body, {
      authenticated: true,
      address: made.body.address,
    });
  });

  it('GET /api/wallet/address without a session asks for one', async () => {
    const { status, body } = await ask('GET', '/api/wallet/address');
    assert.equal(status, 200);
    assert.deepEqual([body.authenticated, body.needsAuth, typeof body.message], [false, true, 'string']);
  });
});

describe('custody', () => {
  it('POST /api/wallet/create: 401, 400, and 500 with `setup` when it is not configured', async () => {
    const { key } = await addUser(services.runtime);
    assert.equal((await ask('POST', '/api/wallet/create', { body: { email: 'a@b.co' } })).status, 401);
    assert.equal((await ask('POST', '/api/wallet/create', { key, body: {} })).status, 400);
    const { status, body } = await ask('POST', '/api/wallet/create', { key, body: { email: 'a@b.co' } });
    assert.deepEqual([status, typeof body.setup], [500, 'string']);
  });

  it('GET and POST /api/wallet/cdp', async () => {
    const { key } = await addUser(services.runtime);
    const offer = await ask('GET', '/api/wallet/cdp');
    assert.deepEqual(Object.keys(offer.body), ['status', 'type', 'supportedChains']);
    const made = await ask('POST', '/api/wallet/cdp', { key, body: {} });
    assert.deepEqual([made.status, made.body.success], [200, true]);
    assert.match(made.body.address, /^0x[0-9a-fA-F]{40}$/);
    assert.equal(typeof made.body.network, 'string');
  });
});

describe('GET /api/wallet/transactions', () => {
  it('shows the newest 20 transfers of a wallet on this platform', async () => {
    const { key } = await addUser(services.runtime);
    const { address } = (await ask('POST', '/api/wallet', { key, body: { action: 'create' } })).body;
    for (let amount = 1n; amount <= 22n; amount += 1n) await chain.mint(first!.address, address, amount * 1_000_000n);
    const path = `/api/wallet/transactions?address=${address}`;
    const until = Date.now() + 30_000;
    let answer = await ask('GET', path);
    while (answer.body.transactions[0]?.amount !== '22' && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      answer = await ask('GET', path);
    }
    assert.equal(answer.status, 200);
    assert.deepEqual(Object.keys(answer.body), [
      'address',
      'chain',
      'chainId',
      'currentBlock',
      'transactions',
      'note',
      'explorerUrl',
    ]);
    assert.equal(answer.body.transactions.length, 20);
    assert.deepEqual([answer.body.transactions[0].amount, answer.body.transactions[19].amount], ['22', '3']);
    assert.equal((await ask('GET', `${path}&limit=2`)).body.transactions.length, 2);
  });

  it('400 without an address, 500 when the chain does not answer', async () => {
    assert.deepEqual(await ask('GET', '/api/wallet/transactions'), refused(400, 'Missing address parameter'));
    assert.deepEqual(await ask('GET', '/api/wallet/transactions?address=bob'), refused(400, 'Invalid address'));
    const { address } = await chain.account();
    const { status } = await ask('GET', `/api/wallet/transactions?address=${address}`, { base: bare.web });
    assert.equal(status, 500);
  });
});
