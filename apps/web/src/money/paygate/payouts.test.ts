import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { payoutJob } from '@troupe/contract';
import { CHAIN, createLedger, owedAccount, verifyLedger, walletAccount } from '@troupe/ledger';
import { startTestChain } from '@troupe/testing/chain/chain';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { fund } from '@troupe/testing/money/fund';
import { signedIn, testWeb, type TestWeb } from '../../testing.ts';

const TOKEN = '0x20c0000000000000000000000000000000000000';
const SOLANA = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
const ledger = createLedger({ clock: () => new Date() });

const chain = await startTestChain({ chainId: 42431 });
await chain.tip20(TOKEN, 'pathUSD');
const key = generatePrivateKey();
const treasury = privateKeyToAccount(key).address;
await chain.client.setBalance({ address: treasury, value: parseEther('10') });
await chain.mint(TOKEN, treasury, 5_000_000n);
const withChain = await testWeb({
  env: {
    CHAIN_RPC_URL: chain.rpcUrl,
    CHAIN_TESTNET: 'true',
    PAYEE_ADDRESS: '0x00000000000000000000000000000000000000ee',
    SETTLEMENT_KEY: key,
  },
});
const without = await testWeb();
after(async () => {
  await withChain.stop();
  await without.stop();
  await chain.close();
});

async function pay(web: TestWeb, amount: number, recipient: string) {
  const { headers } = await signedIn(web);
  const inject = (url: string, payload: object) => web.server.app.inject({ method: 'POST', url, payload, headers });
  await fund(web.deps.db, (await inject('/api/wallet', { action: 'create' })).json().address, 10_000_000n);
  const answer = await inject('/api/paygate', { action: 'pay', agentId: 'mine', amount, recipient });
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json() as { paymentId: string; settlement: string };
}

const newAddress = () => privateKeyToAccount(generatePrivateKey()).address;
const balance = async (web: TestWeb, id: string) => (await ledger.balance(web.deps.db.system, id)).balance;
const status = async (web: TestWeb, id: string) =>
  (await web.deps.db.system.selectFrom('payouts').select('status').where('id', '=', id).executeTakeFirst())?.status;

async function until(web: TestWeb, id: string, wanted: string): Promise<void> {
  const end = Date.now() + 30_000;
  while ((await status(web, id)) !== wanted) {
    assert.ok(Date.now() < end, `still ${await status(web, id)}`);
    await delay(30);
  }
}

async function intact(web: TestWeb): Promise<void> {
  const verdicts = await verifyLedger(web.deps.db.system);
  assert.deepEqual(
    verdicts.filter(({ broken }) => broken.length > 0),
    [],
  );
}

const again = (web: TestWeb, id: string) => web.deps.jobs.send(web.deps.db.system, payoutJob, { id });

test('an address outside is paid on-chain, once, whoever works on it', async () => {
  const to = newAddress();
  const before = await balance(withChain, CHAIN.id);
  const { paymentId, settlement } = await pay(withChain, 1.25, to);
  assert.equal(settlement, 'owed');
  await Promise.all(Array.from({ length: 5 }, () => again(withChain, paymentId)));
  await until(withChain, paymentId, 'paid');
  assert.equal(await chain.balance(TOKEN, to), 1_250_000n);
  assert.equal(await balance(withChain, owedAccount(to).id), 0n);
  assert.equal((await balance(withChain, CHAIN.id)) - before, 1_250_000n);
  await again(withChain, paymentId);
  await allJobsRan(withChain.deps.jobs);
  assert.equal(await chain.balance(TOKEN, to), 1_250_000n);
  await intact(withChain);
});

test('what the settlement key does not cover stays owed, and is paid when it does', async () => {
  const to = newAddress();
  const { paymentId } = await pay(withChain, 9, to);
  await allJobsRan(withChain.deps.jobs);
  assert.equal(await status(withChain, paymentId), 'owed');
  assert.equal(await balance(withChain, owedAccount(to).id), 9_000_000n);
  await chain.mint(TOKEN, treasury, 20_000_000n);
  await again(withChain, paymentId);
  await until(withChain, paymentId, 'paid');
  assert.equal(await chain.balance(TOKEN, to), 9_000_000n);
  await intact(withChain);
});

test('without a chain it is owed and shown; once the address is a wallet here, it is credited', async () => {
  const privateKey = generatePrivateKey();
  const to = privateKeyToAccount(privateKey).address;
  const { paymentId } = await pay(without, 2, to);
  const owner = await signedIn(without);
  const inject = (method: 'GET' | 'POST', url: string, payload?: object) =>
    without.server.app.inject({ method, url, payload, headers: owner.headers });
  await allJobsRan(without.deps.jobs);
  assert.equal(await status(without, paymentId), 'owed');
  assert.equal((await inject('POST', '/api/wallet/cdp', { privateKey })).statusCode, 200);
  const owed = (await inject('GET', `/api/wallet/ledger?address=${to}`)).json();
  assert.deepEqual([owed.balance, owed.owed], ['0.00', '2.00']);
  await again(without, paymentId);
  await until(without, paymentId, 'credited');
  const credited = (await inject('GET', `/api/wallet/ledger?address=${to}`)).json();
  assert.deepEqual([credited.balance, credited.owed], ['2.00', undefined]);
  assert.equal(await balance(without, walletAccount(to).id), 2_000_000n);
  await intact(without);
});

test('a Solana address stays owed', async () => {
  const { paymentId, settlement } = await pay(withChain, 1, SOLANA);
  await allJobsRan(withChain.deps.jobs);
  assert.deepEqual([settlement, await status(withChain, paymentId)], ['owed', 'owed']);
  assert.equal(await balance(withChain, `owed:${SOLANA}`), 1_000_000n);
  await intact(withChain);
});
