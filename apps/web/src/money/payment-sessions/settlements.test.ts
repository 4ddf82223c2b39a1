import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEther } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { signVoucher } from '@troupe/chain';
import { settlementJob } from '@troupe/contract';
import { randomHex } from '@troupe/kernel';
import { CARD_PROCESSOR, CHAIN, createLedger, SETTLING, verifyLedger, walletAccount } from '@troupe/ledger';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { testWeb, type TestWeb } from '../../testing.ts';

const TOKEN = '0x20c0000000000000000000000000000000000000';
const PAYEE = '0x00000000000000000000000000000000000000ee';
const PATH = '/api/wallet/sessions';

let chain: TestChain;
let web: TestWeb;
/** Between web and the chain: can be down, or lie. */
let rpc: 'up' | 'down' | 'other chain' = 'up';
const proxy = createServer((request, response) => {
  void (async () => {
    let text = '';
    for await (const part of request) text += String(part);
    if (rpc === 'down') return request.socket.destroy();
    const answer = await fetch(chain.rpcUrl, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json' },
    });
    const body = await answer.text();
    response
      .setHeader('content-type', 'application/json')
      .end(rpc === 'up' ? body : body.replaceAll('"0xa5bf"', '"0x1"'));
  })();
});
const settlementKey = generatePrivateKey();
const ledger = createLedger({ clock: () => new Date() });

before(async () => {
  chain = await startTestChain({ chainId: 42431 });
  await chain.tip20(TOKEN, 'pathUSD');
  const { address } = privateKeyToAccount(settlementKey);
  await chain.client.setBalance({ address, value: parseEther('10') });
  await chain.mint(TOKEN, address, 100_000_000n);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  web = await testWeb({
    env: {
      CHAIN_RPC_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      CHAIN_TESTNET: 'true',
      PAYEE_ADDRESS: PAYEE,
      SETTLEMENT_KEY: settlementKey,
    },
  });
});
after(async () => {
  const broken = (await verifyLedger(web.deps.db.system)).filter(({ broken: found }) => found.length > 0);
  assert.deepEqual(broken, []);
  assert.equal((await balance(SETTLING.id)).balance, 0n);
  assert.equal((await balance(CHAIN.id)).balance, await chain.balance(TOKEN, PAYEE));
  await web.stop();
  proxy.close().closeAllConnections();
  await chain.close();
});

const balance = (account: string) => ledger.balance(web.deps.db.system, account);
const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
  (await web.server.app.inject({ method, url, payload })).json();
const session = async (id: string) => (await ask('GET', `${PATH}?sessionId=${id}`)).session;
async function funded(units: bigint): Promise<PrivateKeyAccount> {
  const owner = privateKeyToAccount(generatePrivateKey());
  const { id } = walletAccount(owner.address);
  await web.deps.db.asSystem(async (tx) => {
    await ledger.open(tx, [CARD_PROCESSOR, walletAccount(owner.address)]);
    await ledger.post(tx, {
      key: randomHex(8),
      kind: 'top-up',
      entries: [
        { account: CARD_PROCESSOR.id, amount: -units },
        { account: id, amount: units },
      ],
    });
  });
  return owner;
}
async function spend(by: PrivateKeyAccount, sessionId: string, units: bigint): Promise<unknown> {
  const one = { sessionId, plugin: 'agent', nonce: `0x${randomHex(32)}` as const };
  const signature = await signVoucher(by, { ...one, amount: units }, 42431);
  const amount = String(Number(units) / 1e6);
  return (await ask('POST', `${PATH}/voucher`, { ...one, userAddress: by.address, amount, signature })).error;
}
async function until(what: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (Date.now() < end && !(await what())) await delay(50);
  assert.ok(await what(), 'it did not happen in time');
}

test('five dollars go to the payee on-chain, and the rest when the session closes', async () => {
  const owner = await funded(10_000_000n);
  const { id } = (await ask('POST', PATH, { address: owner.address, deposit: '10' })).session;
  const before = await chain.balance(TOKEN, PAYEE);
  await spend(owner, id, 4_000_000n);
  await spend(owner, id, 1_500_000n);
  // It takes vouchers while it settles.
  assert.equal(await spend(owner, id, 250_000n), undefined);
  await until(async () => (await session(id)).status === 'active');
  assert.equal((await chain.balance(TOKEN, PAYEE)) - before, 5_500_000n);
  const closed = await ask('DELETE', `${PATH}?sessionId=${id}`);
  assert.deepEqual(closed, { success: true, returned: '4.25', settled: '5.75' });
  await until(async () => (await session(id)).status === 'closed');
  assert.equal((await chain.balance(TOKEN, PAYEE)) - before, 5_750_000n);
  assert.equal((await balance(walletAccount(owner.address).id)).available, 4_250_000n);
});

test('play money never goes on-chain', async () => {
  const owner = privateKeyToAccount(generatePrivateKey());
  const before = await chain.balance(TOKEN, PAYEE);
  const { session: opened } = await ask('POST', PATH, { address: owner.address, deposit: '10' });
  assert.equal(opened.sandbox, true);
  await spend(owner, opened.id, 6_000_000n);
  assert.deepEqual(await ask('DELETE', `${PATH}?sessionId=${opened.id}`), {
    success: true,
    returned: '4.00',
    settled: '6.00',
  });
  assert.equal((await session(opened.id)).status, 'closed');
  assert.equal(await chain.balance(TOKEN, PAYEE), before);
});

test('with the chain down or lying, closing answers, returns the rest at once, and settles once when it is back', async () => {
  for (const state of ['down', 'other chain'] as const) {
    const owner = await funded(10_000_000n);
    const { id } = (await ask('POST', PATH, { address: owner.address, deposit: '10' })).session;
    await spend(owner, id, 1_250_000n);
    const before = await chain.balance(TOKEN, PAYEE);
    rpc = state;
    const answers = await Promise.all([1, 2, 3].map(() => ask('DELETE', `${PATH}?sessionId=${id}`)));
    for (const answer of answers) assert.deepEqual(answer, { success: true, returned: '8.75', settled: '1.25' });
    assert.equal((await session(id)).status, 'settling');
    assert.equal(await spend(owner, id, 1n), 'Session is settling');
    assert.equal((await balance(walletAccount(owner.address).id)).available, 8_750_000n);
    rpc = 'up';
    await until(async () => (await session(id)).status === 'closed');
    assert.equal((await chain.balance(TOKEN, PAYEE)) - before, 1_250_000n);
  }
});

test('a settlement that several work on at once is paid once', async () => {
  const owner = await funded(10_000_000n);
  const { id } = (await ask('POST', PATH, { address: owner.address, deposit: '10' })).session;
  const before = await chain.balance(TOKEN, PAYEE);
  rpc = 'down';
  await spend(owner, id, 5_000_000n);
  rpc = 'up';
  const { id: settlement } = await web.deps.db.system
    .selectFrom('payment_settlements')
    .select('id')
    .where('session_id', '=', id)
    .executeTakeFirstOrThrow();
  await web.deps.db.asSystem(async (tx) => {
    for (let n = 0; n < 3; n += 1) await web.deps.jobs.send(tx, settlementJob, { id: settlement });
  });
  await until(async () => (await session(id)).status === 'active');
  await allJobsRan(web.deps.jobs);
  assert.equal((await chain.balance(TOKEN, PAYEE)) - before, 5_000_000n);
});
