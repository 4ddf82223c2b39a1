import { gatewayPaymentJob } from '@troupe/contract';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { evm, Mppx } from 'mppx/client';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { parseEther } from 'viem';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { allJobsRan } from '@troupe/testing/database/jobs';
import { testWeb, type TestWeb } from '../../testing.ts';

/** A token with EIP-3009, as any may be on that chain. */
const TOKEN = '0x0000000000000000000000000000000000003009';
const PAYEE = '0x00000000000000000000000000000000000000ee';
const PRICE = 50_000n;

let chain: TestChain;
let web: TestWeb;
let url: string;
let payer: PrivateKeyAccount;
/** What the plugin was asked, and how it answers. */
let asked: unknown[] = [];
let pluginStatus = 200;
let duringCall: () => Promise<unknown> = async () => {};

const plugin = createServer((request, response) => {
  void (async () => {
    let text = '';
    for await (const part of request) text += String(part);
    asked.push(JSON.parse(text));
    await duringCall();
    response.writeHead(pluginStatus, { 'content-type': 'application/json' }).end('{"said":"hello"}');
  })();
});

before(async () => {
  await new Promise<void>((resolve) => plugin.listen(0, '127.0.0.1', resolve));
  chain = await startTestChain({ chainId: 42431 });
  await chain.token(TOKEN, { symbol: 'USDX' });
  const settlementKey = generatePrivateKey();
  await chain.client.setBalance({ address: privateKeyToAccount(settlementKey).address, value: parseEther('10') });
  web = await testWeb({
    env: {
      CHAIN_RPC_URL: chain.rpcUrl,
      CHAIN_TESTNET: 'true',
      PAYEE_ADDRESS: PAYEE,
      PAYMENT_TOKEN: TOKEN,
      SETTLEMENT_KEY: settlementKey,
      PLUGIN_AGENT_URL: `http://127.0.0.1:${(plugin.address() as AddressInfo).port}/run`,
      WEB_PORT: '0',
    },
  });
  const address = await web.server.listen(0, 'WEB_PORT');
  // Clients see the address that web calls its own.
  web.server.url = address;
  url = `${address}/api/v1/gateway`;
});
after(async () => {
  await web.stop();
  plugin.close().closeAllConnections();
  await chain.close();
});
beforeEach(async () => {
  asked = [];
  pluginStatus = 200;
  duringCall = async () => {};
  payer = await chain.account();
  await chain.mint(TOKEN, payer.address, 1_000_000n);
});

const body = JSON.stringify({ prompt: 'hi' });
const request = (headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', ...headers },
});
const mpp = () =>
  Mppx.create({
    methods: [
      evm.charge({
        account: payer,
        authorization: { name: 'USDX', version: '1' },
        currencies: [TOKEN],
        networks: [42431],
      }),
    ],
    polyfill: false,
  });
const x402 = () => {
  const schemes = [{ network: 'eip155:42431' as const, client: new ExactEvmScheme(payer) }];
  return wrapFetchWithPayment(fetch, x402Client.fromConfig({ schemes, spendControls: false }));
};
const left = () => chain.balance(TOKEN, payer.address);
const rows = () =>
  web.deps.db.system
    .selectFrom('gateway_payments')
    .selectAll()
    .where('payer', '=', payer.address.toLowerCase())
    .execute();
const states = async () => (await rows()).map(({ status }) => status).toSorted((a, b) => a.localeCompare(b));

describe('asking for payment', () => {
  test('no payment is a 402 that says how to pay, in both protocols', async () => {
    const answer = await fetch(url, request());
    assert.equal(answer.status, 402);
    assert.deepEqual(await answer.json(), {
      error: 'payment_required',
      plugin: 'agent',
      amount: '0.05',
      currency: 'USD',
      methods: ['card', '402', 'session'],
    });
    assert.match(answer.headers.get('www-authenticate') ?? '', /^Payment /);
    const required = JSON.parse(atob(answer.headers.get('payment-required') ?? '')) as {
      resource: { url: string };
      accepts: { amount: string; payTo: string }[];
    };
    assert.equal(required.resource.url, url);
    assert.equal(required.accepts[0]?.amount, '50000');
    assert.equal(required.accepts[0]?.payTo.toLowerCase(), PAYEE);
    assert.deepEqual(asked, []);
  });

  test('unknown plugins and ways of paying are refused, and what nobody serves is not sold', async () => {
    const ask = async (headers: Record<string, string>) => {
      const answer = await fetch(url, request(headers));
      return [answer.status, ((await answer.json()) as { error: string }).error];
    };
    assert.deepEqual(await ask({ 'x-plugin-id': 'nope' }), [400, 'unknown_plugin']);
    assert.deepEqual(await ask({ 'x-payment-method': 'cash' }), [400, 'unknown_payment_method']);
    assert.deepEqual(await ask({ 'x-plugin-id': 'tts' }), [502, 'no_plugin']);
    const empty = await fetch(url, { ...request({ 'x-plugin-id': 'generate-text' }), body: '{}' });
    assert.deepEqual([empty.status, await empty.json()], [400, { error: 'prompt required' }]);
    const byBody = await fetch(url, { ...request(), body: '{"plugin":"stt"}' });
    assert.equal(byBody.status, 502);
  });
});

describe('paying over HTTP 402', () => {
  for (const [protocol, pay] of [
    ['mpp', () => mpp().fetch(url, request())],
    ['x402', () => x402()(url, request())],
  ] as const) {
    test(`the public ${protocol} client pays, and gets the plugin's answer and a receipt`, async () => {
      const answer = await pay();
      assert.equal(answer.status, 200, await answer.clone().text());
      const { plugin: id, result, payment } = (await answer.json()) as Record<string, Record<string, string>>;
      assert.equal(id, 'agent');
      assert.deepEqual(result, { said: 'hello' });
      assert.equal(payment?.method, '402');
      const receipt = await chain.client.getTransactionReceipt({ hash: payment?.receipt as `0x${string}` });
      assert.equal(receipt.status, 'success');
      assert.ok(answer.headers.get('payment-receipt'));
      assert.equal(await left(), 1_000_000n - PRICE);
      assert.deepEqual(asked, [{ prompt: 'hi' }]);
      assert.deepEqual(await states(), ['settled']);
      const [{ id: paid } = { id: '' }] = await rows();
      const booked = await web.deps.db.system
        .selectFrom('ledger_transactions as posting')
        .innerJoin('ledger_entries as entry', 'entry.transaction_id', 'posting.id')
        .select(['entry.account_id', 'entry.amount'])
        .where('posting.idempotency_key', '=', `402:${paid}`)
        .orderBy('entry.account_id')
        .execute();
      assert.deepEqual(booked, [
        { account_id: 'chain:settled', amount: -PRICE },
        { account_id: 'platform:revenue', amount: PRICE },
      ]);
    });

    test(`the plugin's failure returns the money (${protocol})`, async () => {
      pluginStatus = 500;
      const answer = await pay();
      assert.equal(answer.status, 502);
      assert.equal(((await answer.json()) as { error: string }).error, 'plugin_failed');
      assert.equal(await left(), 1_000_000n);
      assert.deepEqual(await states(), ['released']);
    });
  }

  test('a credential counts once, also ten times at once', async () => {
    const challenge = await fetch(url, request());
    const authorization = await mpp().createCredential(challenge);
    const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(url, request({ authorization }))));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal(answers.filter(({ status }) => status === 402).length, 9);
    assert.equal(asked.length, 1);
    assert.equal(await left(), 1_000_000n - PRICE);
    assert.equal((await fetch(url, request({ authorization }))).status, 402);
  });

  test('an x402 payload counts once', async () => {
    let signature = '';
    const spy: typeof fetch = (input, init) => {
      const sent = new Request(input, init);
      signature = sent.headers.get('payment-signature') ?? signature;
      return fetch(sent);
    };
    const schemes = [{ network: 'eip155:42431' as const, client: new ExactEvmScheme(payer) }];
    const paying = wrapFetchWithPayment(spy, x402Client.fromConfig({ schemes, spendControls: false }));
    assert.equal((await paying(url, request())).status, 200);
    assert.notEqual(signature, '');
    const again = await fetch(url, request({ 'payment-signature': signature }));
    assert.equal(again.status, 402);
    assert.equal(asked.length, 1);
  });

  test('a challenge for one plugin does not pay for another, nor after five minutes', async () => {
    const challenge = await fetch(url, request());
    const authorization = await mpp().createCredential(challenge);
    await web.deps.db.system.updateTable('payment_challenges').set({ plugin: 'tts' }).execute();
    assert.equal((await fetch(url, request({ authorization }))).status, 402);
    const second = await mpp().createCredential(await fetch(url, request()));
    await web.deps.db.system
      .updateTable('payment_challenges')
      .set({ expires_at: new Date(0) })
      .execute();
    assert.equal((await fetch(url, request({ authorization: second }))).status, 402);
    assert.deepEqual(asked, []);
  });

  test('who cannot pay is not served', async () => {
    payer = await chain.account();
    const answer = await x402()(url, request());
    assert.equal(answer.status, 402);
    assert.match(((await answer.json()) as { reason: string }).reason, /transfer would fail/);
    assert.deepEqual(asked, []);
    assert.deepEqual(await states(), ['released']);
  });

  test('who spends the money while the plugin works gets no answer', async () => {
    duringCall = async () => {
      await chain.client.impersonateAccount({ address: payer.address });
      const data = `0xa9059cbb${PAYEE.slice(2).padStart(64, '0')}${(1_000_000).toString(16).padStart(64, '0')}`;
      await chain.client.request({
        method: 'eth_sendTransaction',
        params: [{ from: payer.address, to: TOKEN, data: data as `0x${string}` }],
      } as never);
    };
    const answer = await x402()(url, request());
    assert.equal(answer.status, 402);
    assert.deepEqual(await states(), ['released']);
  });
});

describe('what a crash interrupted', () => {
  test('is finished by a job: released when nothing was sent, settled when it was', async () => {
    await x402()(url, request());
    const [paid] = await rows();
    const { db, jobs } = web.deps;
    // As it was when the process died after sending, and when it died before.
    await db.system.updateTable('gateway_payments').set({ status: 'sent' }).where('id', '=', paid!.id).execute();
    const lost = { ...paid!, id: 'lost', nonce: '0x01', status: 'verified' as const, transaction_hash: null };
    await db.system.insertInto('gateway_payments').values(lost).execute();
    await db.asSystem(async (tx) => {
      await jobs.send(tx, gatewayPaymentJob, { id: paid!.id });
      await jobs.send(tx, gatewayPaymentJob, { id: 'lost' });
    });
    await allJobsRan(jobs);
    assert.deepEqual(await states(), ['released', 'settled']);
  });
});

test('without somebody to pay there is no challenge', async () => {
  const other = await testWeb({ env: { PLUGIN_AGENT_URL: 'http://127.0.0.1:9' } });
  const answer = await other.server.app.inject({ method: 'POST', url: '/api/v1/gateway', payload: {} });
  assert.equal(answer.statusCode, 402);
  assert.equal(answer.headers['www-authenticate'], undefined);
  assert.deepEqual(answer.json().methods, ['card', 'session']);
  await other.stop();
});
