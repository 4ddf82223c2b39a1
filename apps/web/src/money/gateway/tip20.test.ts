import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { after, before, beforeEach, describe, test } from 'node:test';
import { wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import axios from 'axios';
import { Mppx, tempo } from 'mppx/client';
import { createClient, http, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts';
import { tempoModerato } from 'viem/tempo/chains';
import { L2_USDC } from '@troupe/chain';
import { verifyLedger } from '@troupe/ledger';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { startTempo, type TempoNode } from '@troupe/testing/chain/tempo';
import { run, snippets } from '@troupe/testing/docs/snippets';
import { testWeb, type TestWeb } from '../../testing.ts';
import { createTills } from '../tills.ts';

/** The platform on the two networks as they are: TIP-20 on the stablecoin chain, USDC with EIP-3009 on the L2. */

const PATH_USD = '0x20C0000000000000000000000000000000000000';
const PAYEE = '0x00000000000000000000000000000000000000ee';
const PRICE = 50_000n;
const HAS = 1_000_000n;

let chain: TestChain;
let l2: TestChain;
let node: TempoNode;
let web: TestWeb;
let url: string;
let payer: PrivateKeyAccount;
let asked = 0;
let pluginStatus = 200;
const plugin = createServer((request, response) => {
  request.resume();
  asked += 1;
  response.writeHead(pluginStatus, { 'content-type': 'application/json' }).end('{"said":"hello"}');
});

before(async () => {
  await new Promise<void>((resolve) => plugin.listen(0, '127.0.0.1', resolve));
  chain = await startTestChain({ chainId: 42431 });
  l2 = await startTestChain({ chainId: 8453 });
  node = await startTempo(chain);
  await chain.tip20(PATH_USD, 'pathUSD');
  await l2.token(L2_USDC, { symbol: 'USDC', name: 'USD Coin', version: '2' });
  const key = generatePrivateKey();
  const { address: settler } = privateKeyToAccount(key);
  for (const { client } of [chain, l2]) await client.setBalance({ address: settler, value: parseEther('10') });
  await chain.mint(PATH_USD, settler, 100n * HAS);
  web = await testWeb({
    env: {
      CHAIN_RPC_URL: node.rpcUrl,
      CHAIN_TESTNET: 'true',
      L2_RPC_URL: l2.rpcUrl,
      PAYEE_ADDRESS: PAYEE,
      L2_PAYEE_ADDRESS: PAYEE,
      SETTLEMENT_KEY: key,
      PLUGIN_AGENT_URL: `http://127.0.0.1:${(plugin.address() as AddressInfo).port}/run`,
      WEB_PORT: '0',
    },
  });
  const address = await web.server.listen(0, 'WEB_PORT');
  web.server.url = address;
  url = `${address}/api/v1/gateway`;
});
after(async () => {
  const broken = (await verifyLedger(web.deps.db.system)).filter(({ broken: found }) => found.length > 0);
  assert.deepEqual(broken, []);
  await web.stop();
  plugin.close().closeAllConnections();
  node.close();
  await chain.close();
  await l2.close();
});
beforeEach(async () => {
  asked = 0;
  pluginStatus = 200;
  payer = await chain.account();
  await chain.mint(PATH_USD, payer.address, HAS);
  await l2.mint(L2_USDC, payer.address, HAS);
});

const headers = { 'content-type': 'application/json' };
const request = (more: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body: '{"prompt":"hi"}',
  headers: { ...headers, ...more },
});
const getClient = () => createClient({ chain: tempoModerato, transport: http(node.rpcUrl) });
const byTempo = () => Mppx.create({ methods: [tempo({ account: payer, getClient })], polyfill: false });
const x402 = () => new x402Client().register('eip155:*', new ExactEvmScheme(payer));
const left = () => chain.balance(PATH_USD, payer.address);
const states = async () =>
  (
    await web.deps.db.system
      .selectFrom('gateway_payments')
      .select(['kind', 'status', 'served_at'])
      .where('payer', '=', payer.address.toLowerCase())
      .execute()
  ).map(({ kind, status, served_at }) => [kind, status, served_at !== null]);

describe('paying in a TIP-20', () => {
  test('mppx with tempo() pays, and gets the answer and a receipt', async () => {
    const answer = await byTempo().fetch(url, request());
    assert.equal(answer.status, 200, await answer.clone().text());
    const { result, payment } = (await answer.json()) as Record<string, Record<string, string>>;
    assert.deepEqual(result, { said: 'hello' });
    assert.equal(payment?.['method'], '402');
    assert.ok(answer.headers.get('payment-receipt'));
    const found = await getReceipt(payment?.['receipt'] as `0x${string}`);
    assert.equal(found.status, '0x1');
    assert.equal(await left(), HAS - PRICE);
    assert.deepEqual(await states(), [['transaction', 'settled', true]]);
    assert.equal(asked, 1);
  });

  test('as the page of clients says', async () => {
    const key = generatePrivateKey();
    const { address } = privateKeyToAccount(key);
    await chain.client.setBalance({ address, value: parseEther('1') });
    await chain.mint(PATH_USD, address, HAS);
    const snippet = snippets.find(({ title }) => title === 'Paying on Tempo')!;
    const addresses = {
      'http://127.0.0.1:3000': url.replace('/api/v1/gateway', ''),
      [tempoModerato.rpcUrls.default.http[0]]: node.rpcUrl,
    };
    assert.match(await run(snippet, { addresses, home: tmpdir(), env: { PAYER_KEY: key } }), /"said":"hello"/);
    assert.equal(await chain.balance(PATH_USD, address), HAS - PRICE);
  });

  test('a credential counts once, also five times at once', async () => {
    const authorization = await byTempo().createCredential(await fetch(url, request()));
    const answers = await Promise.all(Array.from({ length: 5 }, () => fetch(url, request({ authorization }))));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [200, 402, 402, 402, 402]);
    assert.equal((await fetch(url, request({ authorization }))).status, 402);
    assert.equal(asked, 1);
    assert.equal(await left(), HAS - PRICE);
  });

  test('who pays and gets no answer has the money back', async () => {
    pluginStatus = 500;
    const answer = await byTempo().fetch(url, request());
    assert.equal(answer.status, 502);
    assert.deepEqual(await states(), [['transaction', 'refunded', false]]);
    const until = Date.now() + 60_000;
    while ((await left()) !== HAS) {
      assert.ok(Date.now() < until, 'the money did not come back');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(asked, 1);
  });

  test('who pays by hash pays once, for one call', async () => {
    const methods = [tempo.charge({ account: payer, getClient, mode: 'push' })];
    const pushing = Mppx.create({ methods, polyfill: false });
    const authorization = await pushing.createCredential(await fetch(url, request()));
    assert.equal(await left(), HAS - PRICE);
    const statuses = [];
    for (let n = 0; n < 2; n += 1) statuses.push((await fetch(url, request({ authorization }))).status);
    assert.deepEqual(statuses, [200, 402]);
    assert.equal(await left(), HAS - PRICE);
    assert.equal(asked, 1);
  });
});

describe('paying in USDC on the L2', () => {
  test('@x402/fetch with its defaults', async () => {
    const answer = await wrapFetchWithPayment(fetch, x402())(url, request());
    assert.equal(answer.status, 200, await answer.clone().text());
    assert.equal(await l2.balance(L2_USDC, payer.address), HAS - PRICE);
    assert.deepEqual(await states(), [['authorization', 'settled', false]]);
  });

  test('as the page of clients says', async () => {
    const key = generatePrivateKey();
    const { address } = privateKeyToAccount(key);
    await l2.mint(L2_USDC, address, HAS);
    const snippet = snippets.find(({ title }) => title === 'Paying for calls')!;
    const addresses = { 'http://127.0.0.1:3000': url.replace('/api/v1/gateway', '') };
    assert.match(await run(snippet, { addresses, home: tmpdir(), env: { PAYER_KEY: key } }), /"said":"hello"/);
    assert.equal(await l2.balance(L2_USDC, address), HAS - PRICE);
  });

  test('@x402/axios with its defaults', async () => {
    const paying = wrapAxiosWithPayment(axios.create(), x402() as never);
    const { status, data } = await paying.post(url, { prompt: 'hi' });
    assert.deepEqual([status, (data as { result: unknown }).result], [200, { said: 'hello' }]);
    assert.equal(await l2.balance(L2_USDC, payer.address), HAS - PRICE);
  });
});

const getReceipt = async (hash: `0x${string}`) =>
  (await getClient().request({ method: 'eth_getTransactionReceipt', params: [hash] } as never)) as { status: string };

test('a payee on the L2 that cannot be paid there is refused at the start', () => {
  const settings = { ...web.deps.settings, L2_PAYEE_ADDRESS: PAYEE };
  assert.throws(() => createTills(settings, null, undefined), /L2_PAYEE_ADDRESS needs L2_RPC_URL/);
  const typo = { ...settings, L2_PAYEE_ADDRESS: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed'.replace('B', 'b') };
  assert.throws(() => createTills(typo, null, undefined), /not its right checksum/);
});
