import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { evm, Mppx } from 'mppx/client';
import type { PrivateKeyAccount } from 'viem/accounts';
import { startTestChain, type TestChain } from '../../../tests/lib/chain/index.ts';
import {
  authorizedTransferCall,
  createChainClient,
  createCharges,
  createSender,
  stablecoinNetwork,
  waitFor,
  type Authorization,
  type ChainClient,
} from './index.ts';

const TOKEN = '0x20C0000000000000000000000000000000000000';
const PAYEE = '0x00000000000000000000000000000000000000cc';
let chain: TestChain;
let client: ChainClient;
let payer: PrivateKeyAccount;
let url: string;
let seen: Authorization[] = [];
let refusal: string | null = null;
const server = createServer();

before(async () => {
  chain = await startTestChain({ chainId: 42431 });
  await chain.token(TOKEN, { symbol: 'pathUSD' });
  client = createChainClient({ rpcUrl: chain.rpcUrl, network: stablecoinNetwork(true) });
  payer = await chain.account();
  await chain.mint(TOKEN, payer.address, 1_000_000n);
  const sender = createSender({ chain: client, account: await chain.account() });
  const charge = createCharges({ chain: client, token: TOKEN, payee: PAYEE, secret: 'x'.repeat(32) });
  server.on('request', (incoming, outgoing) => {
    void (async () => {
      const request = new Request(`${url}${incoming.url}`, { headers: incoming.headers as Record<string, string> });
      const result = await charge({
        request,
        price: '0.05',
        description: 'one call',
        expires: new Date(Date.now() + 300_000).toISOString(),
        settle: async (authorization) => {
          seen.push(authorization);
          if (refusal) return { refused: refusal };
          const sent = await sender.send(authorizedTransferCall(TOKEN, authorization));
          assert.equal(await waitFor(client, sent, 5_000), 'success');
          return { reference: sent.hash };
        },
      });
      outgoing.writeHead(result.paid ? 200 : 402, result.headers).end(JSON.stringify(result));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  server.close().closeAllConnections();
  await chain.close();
});
beforeEach(() => {
  seen = [];
  refusal = null;
});

const mpp = (account = payer) =>
  Mppx.create({
    methods: [
      evm.charge({ account, authorization: { name: 'pathUSD', version: '1' }, currencies: [TOKEN], networks: [42431] }),
    ],
    polyfill: false,
  });
const x402 = (account = payer) => {
  const schemes = [{ network: 'eip155:42431' as const, client: new ExactEvmScheme(account) }];
  return wrapFetchWithPayment(fetch, x402Client.fromConfig({ schemes, spendControls: false }));
};

describe('HTTP 402', () => {
  test('asks in both protocols', async () => {
    const response = await fetch(`${url}/a`);
    assert.equal(response.status, 402);
    assert.match(response.headers.get('www-authenticate') ?? '', /^Payment .*method="evm"/);
    const required = JSON.parse(atob(response.headers.get('payment-required') ?? '')) as Record<string, unknown>;
    assert.equal(required.x402Version, 2);
    assert.deepEqual((required.accepts as unknown[])[0], {
      amount: '50000',
      asset: TOKEN,
      extra: { assetTransferMethod: 'eip3009', name: 'pathUSD', version: '1' },
      maxTimeoutSeconds: 300,
      network: 'eip155:42431',
      payTo: PAYEE,
      scheme: 'exact',
    });
  });

  for (const [protocol, pay] of [
    ['mpp', () => mpp().fetch(`${url}/a`)],
    ['x402', () => x402()(`${url}/a`)],
  ] as const) {
    test(`the public ${protocol} client pays`, async () => {
      const before = await chain.balance(TOKEN, PAYEE);
      const response = await pay();
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal((await chain.balance(TOKEN, PAYEE)) - before, 50_000n);
      assert.equal(seen.length, 1);
      assert.equal(seen[0]?.protocol, protocol);
      assert.equal(seen[0]?.challengeId === null, protocol === 'x402');
      assert.ok(response.headers.get('payment-receipt'));
      assert.equal(response.headers.has('payment-response'), protocol === 'x402');
    });
  }

  test('a settlement that fails is asked for again, with the reason', async () => {
    refusal = 'used before';
    const response = await x402()(`${url}/a`);
    assert.equal(response.status, 402);
    assert.match(await response.text(), /used before/);
    assert.ok(response.headers.get('www-authenticate'));
  });

  test('a credential of another amount, payee or signer never reaches the settlement', async () => {
    const response = await fetch(`${url}/a`);
    const credential = await mpp().createCredential(response);
    const [scheme, body = ''] = credential.split(' ');
    const parsed = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
      payload: Record<string, string>;
      source: string;
    };
    const stranger = await chain.account();
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
