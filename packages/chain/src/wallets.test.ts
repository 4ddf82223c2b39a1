import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { testDatabase, type TestDatabase } from '@troupe/testing/database/server';
import { newId, silentLog, systemClock } from '@troupe/kernel';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import {
  createChainClient,
  createIndexer,
  createKeyring,
  createWallets,
  STABLECOINS,
  stablecoinNetwork,
  type Address,
  type Wallets,
} from './index.ts';

let database: TestDatabase;
let wallets: Wallets;
const keyring = createKeyring('one');
before(async () => {
  database = await testDatabase();
  wallets = createWallets({ db: database.db, keyring, clock: systemClock });
});
after(() => database.drop());

async function newUser(): Promise<string> {
  const id = newId();
  const now = new Date();
  await database.db.system
    .insertInto('users')
    .values({ id, email: `${id}@example.com`, name: 'A', referral_code: id, created_at: now, updated_at: now })
    .execute();
  return id;
}

describe('wallets', () => {
  test('one is made for a user and one for each agent, also when asked ten times at once', async () => {
    const userId = await newUser();
    const made = await Promise.all(Array.from({ length: 10 }, () => wallets.create({ userId })));
    assert.equal(made.filter((wallet) => wallet !== null).length, 1);
    assert.ok(await wallets.create({ userId, agentId: 'a1' }));
    assert.ok(await wallets.create({ userId, agentId: 'a2' }));
    assert.equal(await wallets.create({ userId, agentId: 'a2' }), null);
    assert.equal((await wallets.list({ userId })).length, 1);
    assert.equal((await wallets.list({ userId, agentId: 'a2' })).length, 1);
  });

  test('its key signs for its owner only, and is not in the row', async () => {
    const userId = await newUser();
    const wallet = (await wallets.create({ userId }))!;
    const account = await wallets.account({ userId }, wallet.address.toLowerCase() as Address);
    assert.equal(account?.address, wallet.address);
    assert.equal(await wallets.account({ userId: await newUser() }, wallet.address), null);
    assert.equal(await wallets.account({ userId, agentId: 'a1' }, wallet.address), null);
  });

  test('a key that the user brings is kept once; twenty wallets are the most', async () => {
    const userId = await newUser();
    const key = generatePrivateKey();
    assert.equal((await wallets.add({ userId }, key))?.address, privateKeyToAccount(key).address);
    assert.equal(await wallets.add({ userId }, key), null);
    const more = await Promise.allSettled(Array.from({ length: 25 }, () => wallets.add({ userId })));
    assert.equal(more.filter(({ status }) => status === 'fulfilled').length, 19);
    assert.equal((await wallets.list({ userId })).length, 20);
  });

  test('all keys survive a new encryption key', async () => {
    const userId = await newUser();
    const wallet = (await wallets.create({ userId, agentId: 'a9' }))!;
    const under = (secret: string) =>
      createWallets({ db: database.db, keyring: createKeyring(secret), clock: systemClock });
    assert.ok((await under('two,one').rotate()) >= 1);
    const opened = await under('two').account({ userId, agentId: 'a9' }, wallet.address);
    assert.equal(opened?.address, wallet.address);
    await assert.rejects(wallets.account({ userId, agentId: 'a9' }, wallet.address));
    await under('one,two').rotate();
  });
});

describe('transfers of wallets', () => {
  let chain: TestChain;
  const [path, alpha] = STABLECOINS.map(({ address }) => address) as [Address, Address];
  let own: Address;
  const stranger: Address = '0x00000000000000000000000000000000000000dd';

  before(async () => {
    chain = await startTestChain({ chainId: 42431 });
    await chain.token(path, { symbol: 'pathUSD' });
    await chain.token(alpha, { symbol: 'alphaUSD' });
  });
  after(() => chain.close());
  beforeEach(async () => {
    own = (await wallets.create({ userId: await newUser() }))!.address;
  });

  const indexer = (options: { span?: bigint } = {}) =>
    createIndexer({
      chain: createChainClient({ rpcUrl: chain.rpcUrl, network: stablecoinNetwork(true) }),
      db: database.db,
      log: silentLog,
      clock: systemClock,
      tokens: STABLECOINS.map(({ address }) => address),
      ...options,
    });

  const units = async (index: ReturnType<typeof indexer>, limit = 20) =>
    (await index.transfers(own, limit)).map((transfer) => transfer.units);

  test('are read from the logs, newest first, and only those of own addresses', async () => {
    await chain.mint(path, own, 1n);
    await chain.mint(alpha, stranger, 2n);
    await chain.mint(alpha, own, 3n);
    const index = indexer({ span: 1n });
    await index.catchUp();
    const found = await index.transfers(own, 20);
    assert.deepEqual(
      found.map(({ token, to, units: value }) => [token, to, value]),
      [
        [alpha, own.toLowerCase(), 3n],
        [path, own.toLowerCase(), 1n],
      ],
    );
    assert.ok(Math.abs(found[0]!.time.getTime() - Date.now()) < 60_000);
    assert.deepEqual(await units(index, 1), [3n]);
    assert.deepEqual(await index.transfers(stranger, 20), []);
    await index.stop();
  });

  test('go on where another process stopped, and two at once read nothing twice', async () => {
    const first = indexer();
    await chain.mint(path, own, 1n);
    await first.catchUp();
    await first.stop();
    await chain.mint(path, own, 2n);
    const others = [indexer(), indexer()];
    await Promise.all(others.map((index) => index.catchUp()));
    assert.deepEqual(await units(others[0]!), [2n, 1n]);
    await Promise.all(others.map((index) => index.stop()));
  });

  test('a reorganization takes back what it made void', async () => {
    const index = indexer();
    await chain.mint(path, own, 1n);
    await index.catchUp();
    const snapshot = await chain.client.snapshot();
    await chain.mint(path, own, 2n);
    await index.catchUp();
    await chain.mint(path, own, 3n);
    await index.catchUp();
    assert.deepEqual(await units(index), [3n, 2n, 1n]);

    await chain.client.revert({ id: snapshot });
    await chain.mint(path, own, 4n);
    await index.catchUp();
    assert.deepEqual(await units(index), [4n, 1n]);

    await chain.mint(path, own, 5n);
    await chain.mint(path, own, 6n);
    await index.catchUp();
    assert.deepEqual(await units(index), [6n, 5n, 4n, 1n]);
    await index.stop();
  });

  test('a chain that does not answer is an error, and nothing is lost', async () => {
    const down = createIndexer({
      chain: createChainClient({ rpcUrl: 'http://127.0.0.1:1', network: stablecoinNetwork(true) }),
      db: database.db,
      log: silentLog,
      clock: systemClock,
      tokens: [path],
    });
    await assert.rejects(down.catchUp(), /does not answer/);
    await down.stop();
    await chain.mint(path, own, 9n);
    const index = indexer();
    await index.catchUp();
    assert.deepEqual(await units(index), [9n]);
    await index.stop();
  });
});
