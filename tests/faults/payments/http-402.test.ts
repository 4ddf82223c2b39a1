import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { evm, Mppx, tempo } from 'mppx/client';
import { createClient, http, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { tempoModerato } from 'viem/tempo/chains';
import { L2_USDC } from '@troupe/chain';
import { CHAIN, createLedger } from '@troupe/ledger';
import { startTestChain } from '@troupe/testing/chain/chain';
import { startTempo } from '@troupe/testing/chain/tempo';
import { startServices } from '@troupe/testing/services/services';
import { killAtEveryStep, startChild } from './killing.ts';
import { startPlugin, tapRpc, type RpcTap } from './stand-ins.ts';

const PATH_USD = '0x20C0000000000000000000000000000000000000';
const PAYEE = '0x00000000000000000000000000000000000000ee';
const PRICE = 50_000n;
const ledger = createLedger({ clock: () => new Date() });

const chain = await startTestChain({ chainId: 42431 });
const l2 = await startTestChain({ chainId: 8453 });
const node = await startTempo(chain);
await chain.tip20(PATH_USD, 'pathUSD');
await l2.token(L2_USDC, { symbol: 'USDC', name: 'USD Coin', version: '2' });
const plugin = await startPlugin();
const rpc = await tapRpc(node.rpcUrl);
const l2Rpc = await tapRpc(l2.rpcUrl);
const key = generatePrivateKey();
const { address: settler } = privateKeyToAccount(key);
for (const { client } of [chain, l2]) await client.setBalance({ address: settler, value: parseEther('10') });
await chain.mint(PATH_USD, settler, 100_000_000n);
const env = {
  CHAIN_RPC_URL: node.rpcUrl,
  CHAIN_TESTNET: 'true',
  L2_RPC_URL: l2.rpcUrl,
  PAYEE_ADDRESS: PAYEE,
  L2_PAYEE_ADDRESS: PAYEE,
  SETTLEMENT_KEY: key,
  PLUGIN_AGENT_URL: plugin.url,
};
/** Another process, which lives on. */
const services = await startServices(env);
const { runtime } = services;
after(async () => {
  await services.stop();
  plugin.close();
  rpc.close();
  l2Rpc.close();
  node.close();
  await chain.close();
  await l2.close();
});

const booked = async () => -(await ledger.balance(runtime.db.system, CHAIN.id)).balance;
const atCall = (tap: RpcTap, method: string, at: 'before' | 'after') => (kill: () => Promise<void>) => {
  tap.onCall = async (asked, when) => {
    if (asked === method && when === at) await kill();
  };
};

const start = (databaseUrl: string) =>
  startChild('web', runtime, { ...env, CHAIN_RPC_URL: rpc.url, L2_RPC_URL: l2Rpc.url, DATABASE_URL: databaseUrl });
/** A new one for each: mppx writes into the headers that it is given. */
const post = () => ({ method: 'POST', body: '{"prompt":"hi"}', headers: { 'content-type': 'application/json' } });
const disarm = (): void => {
  plugin.onCall = () => {};
  rpc.onCall = () => {};
  l2Rpc.onCall = () => {};
};

test('a call paid over HTTP 402: the payer pays once or not at all, and the books say which', (t) =>
  killAtEveryStep(t, runtime, {
    start,
    async prepare() {
      const payer = await l2.account();
      await l2.mint(L2_USDC, payer.address, 1_000_000n);
      plugin.calls = 0;
      return { payer, booked: await booked(), paid: await l2.balance(L2_USDC, PAYEE) };
    },
    async work({ address }, { payer }) {
      const methods = [evm.charge({ account: payer, currencies: [evm.assets.base.USDC] })];
      const answer = await Mppx.create({ methods, polyfill: false }).fetch(`${address}/api/v1/gateway`, post());
      return { status: answer.status, body: await answer.json() };
    },
    async check(before, answer) {
      const took = 1_000_000n - (await l2.balance(L2_USDC, before.payer.address));
      assert.ok(took === 0n || took === PRICE, `${took}`);
      assert.equal((await l2.balance(L2_USDC, PAYEE)) - before.paid, took);
      assert.equal((await booked()) - before.booked, took);
      if (answer?.status === 200) assert.equal(took, PRICE);
      if (took > 0n) assert.equal(plugin.calls, 1);
    },
    moments: {
      'while the plugin works': (kill) => void (plugin.onCall = kill),
      'before the stored transfer is sent': atCall(l2Rpc, 'eth_sendRawTransaction', 'before'),
      'after it was sent, before that is known': atCall(l2Rpc, 'eth_sendRawTransaction', 'after'),
    },
    disarm,
  }));

test('a call paid in a TIP-20: who gets no answer has the money back, and nobody gets it twice', (t) => {
  const holdings = async () => (await chain.balance(PATH_USD, PAYEE)) + (await chain.balance(PATH_USD, settler));
  return killAtEveryStep(t, runtime, {
    start,
    async prepare() {
      node.ahead = 0;
      const payer = await chain.account();
      await chain.mint(PATH_USD, payer.address, 1_000_000n);
      plugin.calls = 0;
      return { payer, booked: await booked(), held: await holdings() };
    },
    async work({ address }, { payer }) {
      const getClient = () => createClient({ chain: tempoModerato, transport: http(node.rpcUrl) });
      const methods = [tempo({ account: payer, getClient })];
      const answer = await Mppx.create({ methods, polyfill: false }).fetch(`${address}/api/v1/gateway`, post());
      return { status: answer.status, body: await answer.json() };
    },
    async check(before, answer) {
      const took = 1_000_000n - (await chain.balance(PATH_USD, before.payer.address));
      assert.ok(took === 0n || took === PRICE, `${took}`);
      assert.equal((await holdings()) - before.held, took);
      assert.equal((await booked()) - before.booked, took);
      if (answer?.status === 200) assert.equal(took, PRICE);
      if (took > 0n) assert.equal(plugin.calls, 1);
    },
    // What was paid and not answered, and what is owed for it.
    open: `select 'unanswered ' || id from gateway_payments
             where kind = 'transaction' and status = 'settled' and served_at is null
           union all select 'payout ' || id from payouts where status in ('owed', 'sent')`,
    moments: {
      'while the plugin works': (kill) => void (plugin.onCall = kill),
      'before the stored transaction is sent': atCall(rpc, 'eth_sendRawTransaction', 'before'),
      'after it was sent, before that is known': atCall(rpc, 'eth_sendRawTransaction', 'after'),
    },
    disarm() {
      disarm();
      // What was not sent is void by now.
      node.ahead = 60;
    },
  });
});
