import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import {
  busMessageSigned,
  canonicalJson,
  createChainClient,
  createKeyring,
  createRecover,
  createVerifier,
  requestMessage,
  requestSigned,
  signBusMessage,
  signVoucher,
  stablecoinNetwork,
  voucherSigned,
  voucherTypedData,
  walletProven,
  type Voucher,
} from './index.ts';

const recover = createRecover();
const offline = createVerifier({ recover });
const account = privateKeyToAccount(generatePrivateKey());
const stranger = privateKeyToAccount(generatePrivateKey());
after(() => recover.close());

describe('vouchers', () => {
  let chain: TestChain;
  before(async () => {
    chain = await startTestChain({ chainId: 42431 });
  });
  after(() => chain.close());
  const voucher: Voucher = { sessionId: 'ses_1', plugin: 'agent', amount: 50_000n, nonce: `0x${'01'.repeat(32)}` };
  const onChain = () =>
    createVerifier({
      recover,
      chain: createChainClient({ rpcUrl: chain.rpcUrl, network: stablecoinNetwork(true) }),
    });

  test('signed by a key, a deployed and a not yet deployed wallet', async () => {
    const signature = await signVoucher(account, voucher, 42431);
    assert.equal(await voucherSigned(offline, { voucher, chainId: 42431, by: account.address, signature }), true);
    for (const deployed of [true, false]) {
      const wallet = await chain.smartWallet({ deployed });
      const by = wallet.address;
      const signed = await wallet.signTypedData(voucherTypedData(voucher, 42431));
      assert.equal(await voucherSigned(onChain(), { voucher, chainId: 42431, by, signature: signed }), true);
      assert.equal(await voucherSigned(offline, { voucher, chainId: 42431, by, signature: signed }), false);
    }
  });

  test('a signature covers every field and the chain', async () => {
    const signature = await signVoucher(account, voucher, 42431);
    const changed: Partial<Voucher>[] = [
      { sessionId: 'ses_2' },
      { plugin: 'tts' },
      { amount: 50_001n },
      { nonce: `0x${'02'.repeat(32)}` },
    ];
    const by = account.address;
    for (const change of changed) {
      const other = { ...voucher, ...change };
      assert.equal(await voucherSigned(onChain(), { voucher: other, chainId: 42431, by, signature }), false);
    }
    assert.equal(await voucherSigned(onChain(), { voucher, chainId: 4217, by, signature }), false);
    assert.equal(await voucherSigned(onChain(), { voucher, chainId: 42431, by: stranger.address, signature }), false);
  });
});

test('a signed request counts for its method, path, address and five minutes', async () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const timestamp = String(now.getTime());
  const request = { method: 'DELETE', path: '/api/wallet/sessions', timestamp, address: account.address, now };
  const signature = await account.signMessage({ message: requestMessage('DELETE', '/api/wallet/sessions', timestamp) });
  assert.equal(await requestSigned(offline, { ...request, signature }), true);
  const at = (ms: number) => new Date(now.getTime() + ms);
  assert.equal(await requestSigned(offline, { ...request, signature, now: at(300_000) }), true);
  for (const change of [
    { method: 'GET' },
    { path: '/api/wallet/ledger' },
    { address: stranger.address },
    { now: at(300_001) },
    { now: at(-300_001) },
    { timestamp: 'x' },
    { timestamp: undefined },
    { signature: undefined },
    { signature: '0x12' },
  ]) {
    assert.equal(await requestSigned(offline, { ...request, signature, ...change }), false, JSON.stringify(change));
  }
});

test('an own wallet is registered with a proof by its key for that agent', async () => {
  const { address } = account;
  const proof = await account.signMessage({ message: `Register ${address} for agent a1` });
  assert.equal(await walletProven(offline, { address, agentId: 'a1', proof }), true);
  assert.equal(await walletProven(offline, { address, agentId: 'a2', proof }), false);
  assert.equal(await walletProven(offline, { address: stranger.address, agentId: 'a1', proof }), false);
  assert.equal(await walletProven(offline, { address: 'bob', agentId: 'a1', proof }), false);
});

describe('bus messages', () => {
  const message = { version: '1.0', messageId: 'm1', action: 'PING', payload: { b: 1, a: [1, 'é'] } };

  test('the order of members and what carriers add do not matter, anything else does', async () => {
    const signature = await signBusMessage(account, message);
    const by = account.address;
    const reordered = { action: 'PING', payload: { a: [1, 'é'], b: 1 }, messageId: 'm1', version: '1.0' };
    assert.equal(await busMessageSigned(offline, { message: { ...reordered, signature }, by }), true);
    assert.equal(
      await busMessageSigned(offline, { message: { ...message, signature, metadata: { hop: 1 } }, by }),
      true,
    );
    assert.equal(await busMessageSigned(offline, { message: { ...message, signature, action: 'PONG' }, by }), false);
    assert.equal(await busMessageSigned(offline, { message: { ...message, signature, extra: 1 }, by }), false);
    assert.equal(await busMessageSigned(offline, { message: { ...message, signature }, by: stranger.address }), false);
    assert.equal(await busMessageSigned(offline, { message, by }), false);
    assert.equal(await busMessageSigned(offline, { message: { ...message, signature, payload: '\ud800' }, by }), false);
  });

  test('canonical JSON is that of RFC 8785', () => {
    const given = { '€': 1, '\r': 2, '1': 3, '😂': 4, ö: 5, '\u0080': 6, '\ufb33': 7 };
    assert.equal(canonicalJson(given), '{"\\r":2,"1":3,"\u0080":6,"ö":5,"€":1,"😂":4,"\ufb33":7}');
    assert.equal(
      canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0, null, true, 'a"\\\b\u000f']),
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0,null,true,"a\\"\\\\\\b\\u000f"]',
    );
    const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as unknown;
    for (const bad of [deep, NaN, Infinity, '\ud800', undefined, () => 1, 1n])
      assert.throws(() => canonicalJson([bad]));
  });
});

describe('wallet keys', () => {
  const keys = createKeyring('secret one');

  test('open only for the owner and address they were made for', () => {
    const key = keys.create('user:1');
    assert.equal(keys.open('user:1', key).address, key.address);
    assert.throws(() => keys.open('user:2', key));
    const other = keys.create('user:1');
    assert.throws(() => keys.open('user:1', { address: key.address, sealed: other.sealed }));
    assert.throws(() => createKeyring('secret two').open('user:1', key));
    assert.ok(!key.sealed.includes(Buffer.from('0x')));
  });

  test('survive a new encryption key', () => {
    const both = createKeyring('secret two,secret one');
    const key = keys.create('agent:7');
    assert.equal(both.open('agent:7', key).address, key.address);
    const sealed = both.reseal('agent:7', key);
    assert.equal(createKeyring('secret two').open('agent:7', { address: key.address, sealed }).address, key.address);
    assert.throws(() => keys.open('agent:7', { address: key.address, sealed }));
  });
});
