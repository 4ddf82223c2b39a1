import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  busDigest,
  createChainClient,
  createKeyring,
  createSender,
  createWallets,
  L2_USDC,
  l2Network,
  transferCall,
  walletProofMessage,
  type Address,
  type SignedTransaction,
} from '@troupe/chain';
import { splitPayoutJob } from '@troupe/contract';
import { CHAIN, owedAccount, verifyLedger } from '@troupe/ledger';
import { newId } from '@troupe/kernel';
import { hashMessage, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import * as store from './store.ts';
import { startUnderground } from '../testing.ts';

let chain: TestChain;
let world: Awaited<ReturnType<typeof startUnderground>>;
before(async () => {
  chain = await startTestChain({ chainId: 8453 });
  await chain.token(L2_USDC, { symbol: 'USDC' });
  world = await startUnderground({ env: { L2_RPC_URL: chain.rpcUrl } });
});
after(async () => {
  await world.stop();
  await chain.close();
});

const newAddress = () => privateKeyToAccount(generatePrivateKey()).address;
const balanceOf = async (account: string) => (await world.ledger.balance(world.runtime.db.system, account)).balance;
const owed = (address: string) => balanceOf(owedAccount(address).id);

async function intact(): Promise<void> {
  const verdicts = await verifyLedger(world.runtime.db.system);
  assert.deepEqual(
    verdicts.filter(({ broken }) => broken.length > 0),
    [],
  );
}

/** An agent whose wallet holds that much USDC, and enough for fees unless said. */
async function payer(units: bigint, fees = true) {
  const person = await world.person();
  const agentId = await world.agent(person);
  const { body } = await world.ask('POST', '/api/underground/wallets', person, { agentId });
  const address = body.address as Address;
  if (units > 0n) await chain.mint(L2_USDC, address, units);
  if (fees) await chain.client.setBalance({ address, value: parseEther('1') });
  const split = (totalAmount: string, recipients: { address: string; share: number }[], headers = {}) =>
    world.ask('POST', '/api/underground/splits', person, { agentId, name: 'Show', totalAmount, recipients }, headers);
  return { person, agentId, address, split };
}

describe('balances', () => {
  test('are what the chain says', async () => {
    const { person, address } = await payer(12_345_678n);
    const { status, body } = await world.ask('GET', `/api/underground/wallets/${address}/balance?userId=x`, person);
    assert.deepEqual([status, body], [200, { address, balance_usdc: 12.345678 }]);
    const bad = await world.ask('GET', '/api/underground/wallets/0x12/balance', person);
    assert.deepEqual(bad, { status: 400, body: { error: 'Invalid address' } });
  });
});

test('a bus message may be signed by a contract wallet', async () => {
  const person = await world.person();
  const agentId = await world.agent(person);
  const wallet = await chain.smartWallet({ deployed: true });
  const proof = await wallet.signMessage(walletProofMessage(wallet.address, agentId));
  const given = { agentId, address: wallet.address, proof };
  assert.equal((await world.ask('POST', '/api/underground/wallets', person, given)).status, 201);
  const message = {
    version: '1.0',
    messageId: newId(),
    timestamp: new Date().toISOString(),
    from: { agentId, walletAddress: wallet.address },
    to: { agentId },
    action: 'HELLO',
    payload: {},
  };
  const send = async (by: PrivateKeyAccount) => {
    const signature = await by.sign({ hash: hashMessage({ raw: busDigest(message) }) });
    return (await world.ask('POST', '/api/underground/bus/send', null, { ...message, signature })).status;
  };
  assert.equal(await send(privateKeyToAccount(generatePrivateKey())), 401);
  assert.equal(await send(wallet.owner), 200);
});

describe('splits', () => {
  test('are paid on-chain when the wallet holds the amount', async () => {
    const { address, split } = await payer(100_000_000n);
    const recipients = [33.33, 33.33, 33.33].map((share) => ({ address: newAddress(), share }));
    const { status, body } = await split('100', recipients);
    assert.deepEqual([status, body.status, body.payout], [200, 'completed', 'onchain']);
    assert.equal(new Set(body.transactions).size, 3);
    const parts = await Promise.all(recipients.map((to) => chain.balance(L2_USDC, to.address)));
    assert.deepEqual(parts, [33_333_334n, 33_333_333n, 33_333_333n]);
    assert.equal(await chain.balance(L2_USDC, address), 0n);
    for (const to of recipients) assert.equal(await owed(to.address), 0n);
    for (const part of body.recipients) assert.equal(part.status, 'paid');
    await intact();
  });

  test('stay owed when it does not, or cannot pay the fees', async () => {
    const poor = await payer(9_999_999n);
    const stuck = await payer(10_000_000n, false);
    for (const { split } of [poor, stuck]) {
      const to = newAddress();
      const { status, body } = await split('10', [{ address: to, share: 100 }]);
      assert.deepEqual([status, body.payout, body.transactions], [200, 'accrued', []]);
      assert.equal(await owed(to), 10_000_000n);
      assert.equal(await chain.balance(L2_USDC, to), 0n);
    }
    await intact();
  });

  test('two at once out of a wallet that holds one of them: one is paid, one is owed', async () => {
    const { split, address } = await payer(10_000_000n);
    const [a, b] = [newAddress(), newAddress()];
    await Promise.all([split('10', [{ address: a, share: 100 }]), split('10', [{ address: b, share: 100 }])]);
    const paid = [await chain.balance(L2_USDC, a), await chain.balance(L2_USDC, b)];
    assert.deepEqual(new Set(paid), new Set([0n, 10_000_000n]));
    assert.equal((await owed(a)) + (await owed(b)), 10_000_000n);
    assert.equal(await chain.balance(L2_USDC, address), 0n);
    await intact();
  });

  test('the same key at once pays once', async () => {
    const { split, address } = await payer(30_000_000n);
    const to = newAddress();
    const key = { 'idempotency-key': 'once' };
    await Promise.all(Array.from({ length: 3 }, () => split('10', [{ address: to, share: 100 }], key)));
    assert.equal(await chain.balance(L2_USDC, to), 10_000_000n);
    assert.equal(await chain.balance(L2_USDC, address), 20_000_000n);
    assert.ok((await balanceOf(CHAIN.id)) > 0n);
  });

  test('a chain that does not answer leaves the split owed', async () => {
    const lost = await startUnderground({ env: { L2_RPC_URL: 'http://127.0.0.1:9' } });
    try {
      const person = await lost.person();
      const agentId = await lost.agent(person);
      const { body } = await lost.ask('POST', '/api/underground/wallets', person, { agentId });
      const recipients = [{ address: newAddress(), share: 100 }];
      const given = { agentId, name: 'Show', totalAmount: '1', recipients };
      const answer = await lost.ask('POST', '/api/underground/splits', person, given);
      assert.deepEqual([answer.status, answer.body.payout], [200, 'accrued']);
      assert.deepEqual(await lost.ask('GET', `/api/underground/wallets/${body.address}/balance`, person), {
        status: 503,
        body: { error: 'Chain unavailable' },
      });
    } finally {
      await lost.stop();
    }
  });
});

describe('a payout whose process died', () => {
  /** A split of 10 and 20 that nobody is paying: what a process leaves that dies right after it was made. */
  async function abandoned() {
    const { db } = world.runtime;
    const { person, agentId, address, split } = await payer(0n);
    const to = [newAddress(), newAddress()] as const;
    const { body } = await split('30', [
      { address: to[0], share: 33.34 },
      { address: to[1], share: 66.66 },
    ]);
    assert.equal(body.payout, 'accrued');
    await chain.mint(L2_USDC, address, 100_000_000n);
    const id = body.splitId as string;
    await db.system.updateTable('splits').set({ payout: 'onchain', paid_from: address }).where('id', '=', id).execute();
    await db.system.updateTable('split_parts').set({ status: 'pending' }).where('split_id', '=', id).execute();
    const client = createChainClient({ rpcUrl: chain.rpcUrl, network: l2Network });
    const keyring = createKeyring(world.runtime.secrets.walletKey);
    const wallets = createWallets({ db, keyring, clock: world.runtime.clock });
    const account = await wallets.account({ userId: person.id, agentId }, address);
    const sender = createSender({ chain: client, account: account! });
    const [first] = await store.partsThatAre(db.system, id, 'pending');
    const call = transferCall(L2_USDC, first!.address as Address, first!.units);
    const record = async (transaction: SignedTransaction) => {
      assert.ok(await store.markSent(db.system, first!, transaction));
    };
    return { id, to, address, sender, call, record };
  }

  async function takeUp({ id, to, address }: Awaited<ReturnType<typeof abandoned>>): Promise<void> {
    const { db, jobs } = world.runtime;
    const open = async () =>
      (await store.partsOf(db.system, [id])).some(({ status }) => status === 'pending' || status === 'sent');
    // Two processes take it up.
    for (let n = 0; n < 2; n += 1) await jobs.send(db.system, splitPayoutJob, { splitId: id });
    for (const end = Date.now() + 30_000; (await open()) && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const parts = await store.partsOf(db.system, [id]);
    assert.deepEqual(
      parts.map(({ status }) => status),
      ['paid', 'paid'],
    );
    assert.equal(await chain.balance(L2_USDC, to[0]), 10_002_000n);
    assert.equal(await chain.balance(L2_USDC, to[1]), 19_998_000n);
    assert.equal(await chain.balance(L2_USDC, address), 70_000_000n);
    for (const recipient of to) assert.equal(await owed(recipient), 0n);
    await intact();
  }

  test('before anything was sent', async () => takeUp(await abandoned()));

  test('after a transaction was stored, before it was sent', async () => {
    const left = await abandoned();
    const die = async (transaction: SignedTransaction) => {
      await left.record(transaction);
      throw new Error('killed');
    };
    await assert.rejects(left.sender.send(left.call, die), /killed/);
    await takeUp(left);
  });

  test('after a transaction was sent, before the ledger knew', async () => {
    const left = await abandoned();
    await left.sender.send(left.call, left.record);
    await takeUp(left);
  });
});
