import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import axios from 'axios';
import { evm, Mppx, tempo } from 'mppx/client';
import { createClient, getAddress, http, toFunctionSelector, type AbiFunction } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { Abis } from 'viem/tempo';
import { tempoModerato } from 'viem/tempo/chains';
import { CONTRACTS, startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { startTempo, type TempoNode } from '@troupe/testing/chain/tempo';
import {
  authorizedTransferCall,
  createChainClient,
  createCharges,
  createSender,
  L2_USDC,
  l2Network,
  broadcast,
  signedOutcome,
  stablecoinNetwork,
  waitFor,
  type Authorization,
  type ChainClient,
  type SignedPayment,
} from './index.ts';

const PATH_USD = '0x20C0000000000000000000000000000000000000';
const PAYEE = '0x00000000000000000000000000000000000000cc';
let chain: TestChain;
let node: TempoNode;
let l2: TestChain;
let client: ChainClient;
let payer: PrivateKeyAccount;
let url: string;
let seen: (Authorization | SignedPayment)[] = [];
let refusal: string | null = null;
const server = createServer();

before(async () => {
  chain = await startTestChain({ chainId: 42431 });
  l2 = await startTestChain({ chainId: 8453 });
  node = await startTempo(chain);
  await chain.tip20(PATH_USD, 'pathUSD');
  // As the real one names itself when it signs.
  await l2.token(L2_USDC, { symbol: 'USDC', name: 'USD Coin', version: '2' });
  client = createChainClient({ rpcUrl: node.rpcUrl, network: stablecoinNetwork(true) });
  const l2Client = createChainClient({ rpcUrl: l2.rpcUrl, network: l2Network });
  payer = await chain.account();
  await chain.mint(PATH_USD, payer.address, 1_000_000n);
  await l2.mint(L2_USDC, payer.address, 1_000_000n);
  const sender = createSender({ chain: l2Client, account: await l2.account() });
  const tills = [
    { chain: client, token: PATH_USD, payee: PAYEE },
    { chain: l2Client, token: L2_USDC, payee: PAYEE },
  ] as const;
  const charge = createCharges({ tills, secret: 'x'.repeat(32) });
  server.on('request', (incoming, outgoing) => {
    void (async () => {
      const request = new Request(`${url}${incoming.url}`, { headers: incoming.headers as Record<string, string> });
      const result = await charge({
        request,
        price: '0.05',
        description: 'one call',
        expires: new Date(Date.now() + 300_000).toISOString(),
        settle: async (till, payment) => {
          seen.push(payment);
          if (refusal) return { refused: refusal };
          if (payment.kind === 'transaction') {
            if (payment.raw !== null) await broadcast(till.chain, payment.raw);
            assert.equal(await signedOutcome(till.chain, payment), 'success');
            return { reference: payment.hash };
          }
          const sent = await sender.send(authorizedTransferCall(till.token, payment));
          assert.equal(await waitFor(till.chain, sent, 20_000), 'success');
          return { reference: sent.hash };
        },
      });
      outgoing.writeHead(result.paid ? 200 : 402, result.headers).end(JSON.stringify(result));
    })().catch((error: unknown) => outgoing.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  server.close().closeAllConnections();
  node.close();
  await chain.close();
  await l2.close();
});
beforeEach(() => {
  seen = [];
  refusal = null;
});

/** The client of the network, at the test's node. */
const getClient = () => createClient({ chain: tempoModerato, transport: http(node.rpcUrl) });
const byTempo = (account = payer) => Mppx.create({ methods: [tempo({ account, getClient })], polyfill: false });
const byEvm = (account = payer) =>
  Mppx.create({ methods: [evm.charge({ account, currencies: [evm.assets.base.USDC] })], polyfill: false });
const byFetch = () => wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(payer)));
const byAxios = async (): Promise<Response> => {
  const paying = wrapAxiosWithPayment(
    axios.create(),
    new x402Client().register('eip155:*', new ExactEvmScheme(payer)) as never,
  );
  const { status, headers, data } = await paying.get(`${url}/a`, { transformResponse: (text: string) => text });
  return new Response(data as string, { status, headers: headers as Record<string, string> });
};

describe('HTTP 402', () => {
  test('the token of the test has functions of TIP-20 only', () => {
    const real = new Set(
      Abis.tip20.filter((item): item is typeof item & AbiFunction => item.type === 'function').map(toFunctionSelector),
    );
    // A dispatcher compares the selector: PUSH4 <selector> EQ.
    const code = CONTRACTS.Tip20;
    const own = new Set([...code.matchAll(/63([0-9a-f]{8})14/g)].map(([, selector]) => `0x${selector}`));
    assert.ok(own.size > 12);
    assert.deepEqual(
      [...own].filter((selector) => !real.has(selector as `0x${string}`)),
      [],
    );
  });

  test('each chain asks for what its token can: transactions on one, signed transfers on the other', async () => {
    const response = await fetch(`${url}/a`);
    assert.equal(response.status, 402);
    const asked = response.headers.get('www-authenticate') ?? '';
    assert.deepEqual(
      [...asked.matchAll(/method="(\w+)"/g)].map(([, method]) => method),
      ['tempo', 'evm'],
    );
    const required = JSON.parse(atob(response.headers.get('payment-required') ?? '')) as Record<string, unknown>;
    assert.equal(required['x402Version'], 2);
    assert.deepEqual(required['accepts'], [
      {
        amount: '50000',
        asset: L2_USDC,
        extra: { assetTransferMethod: 'eip3009', name: 'USD Coin', version: '2' },
        maxTimeoutSeconds: 300,
        network: 'eip155:8453',
        payTo: PAYEE,
        scheme: 'exact',
      },
    ]);
  });

  for (const [name, kind, protocol, pay] of [
    ['mppx with tempo()', 'transaction', 'mpp', () => byTempo().fetch(`${url}/a`)],
    ['mppx with evm', 'authorization', 'mpp', () => byEvm().fetch(`${url}/a`)],
    ['@x402/fetch with its defaults', 'authorization', 'x402', () => byFetch()(`${url}/a`)],
    ['@x402/axios with its defaults', 'authorization', 'x402', byAxios],
  ] as const) {
    test(`${name} pays`, async () => {
      const got = () => (kind === 'transaction' ? chain.balance(PATH_USD, PAYEE) : l2.balance(L2_USDC, PAYEE));
      const before = await got();
      const response = await pay();
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal((await got()) - before, 50_000n);
      assert.deepEqual(
        seen.map((payment) => [payment.kind, payment.protocol, getAddress(payment.from), payment.challengeId === null]),
        [[kind, protocol, payer.address, protocol === 'x402']],
      );
      assert.ok(response.headers.get('payment-receipt'));
      assert.equal(response.headers.has('payment-response'), protocol === 'x402');
    });
  }

  test('a payer that sends the transaction itself names its hash', async () => {
    const before = await chain.balance(PATH_USD, PAYEE);
    const mppx = Mppx.create({ methods: [tempo.charge({ account: payer, getClient, mode: 'push' })], polyfill: false });
    const response = await mppx.fetch(`${url}/a`);
    assert.equal(response.status, 200, await response.clone().text());
    assert.equal((await chain.balance(PATH_USD, PAYEE)) - before, 50_000n);
    const [payment] = seen;
    assert.ok(payment?.kind === 'transaction' && payment.raw === null);
    // The same transaction for another challenge is bound to the first by its memo.
    const again = await fetch(`${url}/a`);
    const credential = Buffer.from(
      (await byTempo().createCredential(again)).slice('Payment '.length),
      'base64url',
    ).toString();
    const stolen = { ...(JSON.parse(credential) as object), payload: { type: 'hash', hash: payment.hash } };
    const authorization = `Payment ${Buffer.from(JSON.stringify(stolen)).toString('base64url')}`;
    const refused = await fetch(`${url}/a`, { headers: { authorization } });
    assert.equal(refused.status, 402);
    assert.equal(seen.length, 1);
  });

  test('a settlement that fails is asked for again, with the reason', async () => {
    refusal = 'used before';
    for (const pay of [() => byFetch()(`${url}/a`), () => byTempo().fetch(`${url}/a`)]) {
      const response = await pay();
      assert.equal(response.status, 402);
      assert.match(await response.text(), /used before/);
      assert.ok(response.headers.get('www-authenticate'));
    }
  });

  test('a transaction that would fail, or may happen for ever, never reaches the settlement', async () => {
    const poor = await chain.account();
    const failing = await byTempo(poor)
      .fetch(`${url}/a`)
      .catch((error: unknown) => error);
    assert.ok(failing instanceof Error || (failing as Response).status === 402);
    const offered = await fetch(`${url}/a`);
    const credential = await byTempo().createCredential(offered);
    const parsed = JSON.parse(Buffer.from(credential.slice('Payment '.length), 'base64url').toString()) as {
      payload: { signature: `0x76${string}` };
    };
    const { Transaction } = await import('viem/tempo');
    const {
      signature: _,
      from: __,
      ...transaction
    } = Transaction.deserialize(parsed.payload.signature) as never as {
      signature: unknown;
      from: unknown;
      validBefore?: number;
    };
    for (const validBefore of [undefined, Math.floor(Date.now() / 1000) + 86_400]) {
      const raw = await payer.signTransaction({ ...transaction, validBefore } as never, {
        serializer: Transaction.serialize as never,
      });
      const forged = { ...parsed, payload: { type: 'transaction', signature: raw } };
      const authorization = `Payment ${Buffer.from(JSON.stringify(forged)).toString('base64url')}`;
      const answer = await fetch(`${url}/a`, { headers: { authorization } });
      assert.equal(answer.status, 402);
      assert.match(await answer.text(), /must say until when|valid for too long/);
    }
    assert.deepEqual(seen, []);
  });

  test('a chain that is down is not offered, and who has paid there is not asked to pay again', async () => {
    const gone = createChainClient({ rpcUrl: 'http://127.0.0.1:9', network: stablecoinNetwork(true) });
    const up = createChainClient({ rpcUrl: l2.rpcUrl, network: l2Network });
    const charge = createCharges({
      tills: [
        { chain: gone, token: PATH_USD, payee: PAYEE },
        { chain: up, token: L2_USDC, payee: PAYEE },
      ],
      secret: 'x'.repeat(32),
    });
    const ask = (headers: Record<string, string> = {}) =>
      charge({
        request: new Request(`${url}/a`, { headers }),
        price: '0.05',
        description: 'one call',
        expires: new Date(Date.now() + 300_000).toISOString(),
        settle: async () => ({ reference: '' }),
      });
    const asked = await ask();
    assert.ok(!asked.paid);
    assert.match(asked.headers['www-authenticate'] ?? '', /method="evm"/);
    assert.doesNotMatch(asked.headers['www-authenticate'] ?? '', /method="tempo"/);
    await assert.rejects(ask({ authorization: 'Payment e30' }), { name: 'ChainUnavailable' });
  });

  test('a credential of another amount, payee or signer never reaches the settlement', async () => {
    const response = await fetch(`${url}/a`);
    const credential = await byEvm().createCredential(response);
    const [scheme, body = ''] = credential.split(' ');
    const parsed = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
      payload: Record<string, string>;
      source: string;
    };
    const stranger = await l2.account();
    for (const change of [
      { value: '1' },
      { to: stranger.address },
      { from: stranger.address },
      { validBefore: '1' },
      { nonce: `0x${'00'.repeat(32)}` },
    ]) {
      const forged = { ...parsed, payload: { ...parsed.payload, ...change } };
      const authorization = `${scheme} ${Buffer.from(JSON.stringify(forged)).toString('base64url')}`;
      const answer = await fetch(`${url}/a`, { headers: { authorization } });
      assert.equal(answer.status, 402, JSON.stringify(change));
    }
    assert.deepEqual(seen, []);
  });
});
