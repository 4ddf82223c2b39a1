import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import {
  broadcast,
  createChainClient,
  createSender,
  l2Network,
  L2_USDC,
  outcome,
  parseUsdc,
  transferCall,
  waitFor,
  type ChainClient,
  type SignedTransaction,
} from './index.ts';

let chain: TestChain;
let client: ChainClient;
before(async () => {
  chain = await startTestChain({ chainId: 8453 });
  await chain.token(L2_USDC, { symbol: 'USDC' });
  client = createChainClient({ rpcUrl: chain.rpcUrl, network: l2Network });
});
after(() => chain.close());

const TO = '0x00000000000000000000000000000000000000bb';

async function fundedSender(units: bigint) {
  const account = await chain.account();
  await chain.mint(L2_USDC, account.address, units);
  return { account, sender: createSender({ chain: client, account }) };
}

test('amounts of USDC are positive, finite and rounded to 6 decimals', () => {
  const accepted: [unknown, bigint][] = [
    [1, 1_000_000n],
    ['1', 1_000_000n],
    [0.1, 100_000n],
    [100.01, 100_010_000n],
    ['100.01', 100_010_000n],
    [0.0000005, 1n],
    ['1.0000005', 1_000_001n],
    ['1.00000049', 1_000_000n],
    ['0.000001', 1n],
    ['9.9999999', 10_000_000n],
  ];
  for (const [amount, units] of accepted) assert.equal(parseUsdc(amount), units, String(amount));
  const refused = [0, -1, NaN, Infinity, -Infinity, 1e21, 0.0000001, '0', '0.0000001', '1,5', ' 1', '1 ', '+1', '-1'];
  for (const amount of [...refused, '1e3', '', '.5', '1.', '0x1', null, undefined, {}, [1], true, 1n]) {
    assert.equal(parseUsdc(amount), null, String(amount));
  }
});

describe('transfers', () => {
  test('moves exactly the amount', async () => {
    const { account, sender } = await fundedSender(5_000_000n);
    const before = await chain.balance(L2_USDC, TO);
    const sent = await sender.send(transferCall(L2_USDC, TO, 1_250_000n));
    assert.equal(await waitFor(client, sent, 5_000), 'success');
    assert.equal(await chain.balance(L2_USDC, account.address), 3_750_000n);
    assert.equal((await chain.balance(L2_USDC, TO)) - before, 1_250_000n);
  });

  test('twenty at once from one key all happen', async () => {
    const { account, sender } = await fundedSender(20n);
    const sent = await Promise.all(Array.from({ length: 20 }, () => sender.send(transferCall(L2_USDC, TO, 1n))));
    assert.equal(new Set(sent.map(({ nonce }) => nonce)).size, 20);
    assert.equal(await chain.balance(L2_USDC, account.address), 0n);
  });

  test('what the account does not cover fails before it is recorded, and the next one still goes', async () => {
    const { sender } = await fundedSender(1n);
    const recorded: SignedTransaction[] = [];
    const record = (transaction: SignedTransaction) => Promise.resolve(void recorded.push(transaction));
    await assert.rejects(sender.send(transferCall(L2_USDC, TO, 2n), record));
    assert.deepEqual(recorded, []);
    await sender.send(transferCall(L2_USDC, TO, 1n), record);
    assert.equal(recorded.length, 1);
  });

  test('a transaction stored and never sent is unknown, can be sent later, and twice moves money once', async () => {
    const { account, sender } = await fundedSender(10n);
    let stored: SignedTransaction | undefined;
    await assert.rejects(
      sender.send(transferCall(L2_USDC, TO, 3n), (transaction) => {
        stored = transaction;
        return Promise.reject(new Error('killed'));
      }),
      /killed/,
    );
    assert.equal(await outcome(client, stored!), 'unknown');
    await broadcast(client, stored!.raw);
    await broadcast(client, stored!.raw);
    assert.equal(await outcome(client, stored!), 'success');
    assert.equal(await chain.balance(L2_USDC, account.address), 7n);
  });

  test('a transaction whose nonce another one took is dropped', async () => {
    const { sender } = await fundedSender(10n);
    let stored: SignedTransaction | undefined;
    await assert.rejects(
      sender.send(transferCall(L2_USDC, TO, 3n), (transaction) => {
        stored = transaction;
        return Promise.reject(new Error('killed'));
      }),
    );
    await sender.send(transferCall(L2_USDC, TO, 1n));
    assert.equal(await outcome(client, stored!), 'dropped');
    await assert.rejects(broadcast(client, stored!.raw));
  });
});
