import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { evm, Mppx } from 'mppx/client';
import { parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { CHAIN, createLedger } from '@troupe/ledger';
import { startTestChain } from '../../lib/chain/index.ts';
import { startServices } from '../../lib/services.ts';
import { killAtEveryStep, startChild } from './killing.ts';
import { startPlugin, tapRpc } from './stand-ins.ts';

const TOKEN = '0x20C0000000000000000000000000000000000000';
const PAYEE = '0x00000000000000000000000000000000000000ee';
const PRICE = 50_000n;
const ledger = createLedger({ clock: () => new Date() });

const chain = await startTestChain({ chainId: 42431 });
await chain.token(TOKEN, { symbol: 'pathUSD' });
const plugin = await startPlugin();
const rpc = await tapRpc(chain.rpcUrl);
const key = generatePrivateKey();
await chain.client.setBalance({ address: privateKeyToAccount(key).address, value: parseEther('10') });
const env = {
  CHAIN_RPC_URL: chain.rpcUrl,
  CHAIN_TESTNET: 'true',
  PAYEE_ADDRESS: PAYEE,
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
  await chain.close();
});

const booked = async () => -(await ledger.balance(runtime.db.system, CHAIN.id)).balance;
const atCall = (method: string, at: 'before' | 'after') => (kill: () => Promise<void>) => {
  rpc.onCall = async (asked, when) => {
    if (asked === method && when === at) await kill();
  };
};

test('a call paid over HTTP 402: the payer pays once or not at all, and the books say which', (t) =>
  killAtEveryStep(t, runtime, {
    start: (databaseUrl) => startChild('web', runtime, { ...env, CHAIN_RPC_URL: rpc.url, DATABASE_URL: databaseUrl }),
    async prepare() {
      const payer = await chain.account();
      await chain.mint(TOKEN, payer.address, 1_000_000n);
      plugin.calls = 0;
      return { payer, booked: await booked(), paid: await chain.balance(TOKEN, PAYEE) };
    },
    async work({ address }, { payer }) {
      const authorization = { name: 'pathUSD', version: '1' };
      const method = evm.charge({ account: payer, authorization, currencies: [TOKEN], networks: [42431] });
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', body: '{"prompt":"hi"}', headers };
      const answer = await Mppx.create({ methods: [method], polyfill: false }).fetch(
        `${address}/api/v1/gateway`,
        request,
      );
      return { status: answer.status, body: await answer.json() };
    },
    async check(before, answer) {
      const took = 1_000_000n - (await chain.balance(TOKEN, before.payer.address));
      assert.ok(took === 0n || took === PRICE, `${took}`);
      assert.equal((await chain.balance(TOKEN, PAYEE)) - before.paid, took);
      assert.equal((await booked()) - before.booked, took);
      if (answer?.status === 200) assert.equal(took, PRICE);
      if (took > 0n) assert.equal(plugin.calls, 1);
    },
    moments: {
      'while the plugin works': (kill) => void (plugin.onCall = kill),
      'before the stored transfer is sent': atCall('eth_sendRawTransaction', 'before'),
      'after it was sent, before that is known': atCall('eth_sendRawTransaction', 'after'),
    },
    disarm() {
      plugin.onCall = () => {};
      rpc.onCall = () => {};
    },
  }));
