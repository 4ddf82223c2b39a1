import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createLedger, owedAccount, REVENUE, walletAccount } from '@troupe/ledger';
import { cardEnv, cardSignature, completedCheckout, startCardProcessor } from '@troupe/testing/money/card-processor';
import { fund } from '@troupe/testing/money/fund';
import { addUser, startServices } from '@troupe/testing/services/services';
import { ask, killAtEveryStep, startChild } from './killing.ts';
import { startPlugin } from './stand-ins.ts';

const PRICE = 50_000n;
const FUNDS = 1_000_000n;
const ledger = createLedger({ clock: () => new Date() });

const plugin = await startPlugin();
const processor = await startCardProcessor();
const reportHeaders = (event: string) => ({ 'billing-signature': cardSignature(event) });
const env = {
  ...cardEnv(processor.address),
  PLUGIN_AGENT_URL: plugin.url,
};
/** Another process, which lives on. */
const services = await startServices(env);
const { runtime } = services;
after(async () => {
  await services.stop();
  plugin.close();
  processor.close();
});

const earned = async () => (await ledger.balance(runtime.db.system, REVENUE.id)).balance;

test('a plugin call by card: paid once when the plugin answered, else nothing is taken or held', (t) =>
  killAtEveryStep(t, runtime, {
    start: (databaseUrl) => startChild('web', runtime, { ...env, DATABASE_URL: databaseUrl }),
    async prepare() {
      const user = await addUser(runtime);
      const headers = { authorization: `Bearer ${user.key}` };
      const { body } = await ask(services.web, 'POST', '/api/wallet', { action: 'create' }, headers);
      await fund(runtime.db, body.address, FUNDS);
      plugin.calls = 0;
      return { address: body.address as string, headers, before: await earned() };
    },
    work: (child, { headers }) =>
      child.ask('POST', '/api/v1/gateway', { prompt: 'hi' }, { ...headers, 'x-payment-method': 'card' }),
    async check({ address, before }, answer) {
      const { balance, held } = await ledger.balance(runtime.db.system, walletAccount(address).id);
      const paid = FUNDS - balance;
      assert.ok(paid === 0n || paid === PRICE, `${paid}`);
      assert.equal(held, 0n);
      assert.equal((await earned()) - before, paid);
      if (answer?.status === 200) assert.equal(paid, PRICE);
      if (paid > 0n) assert.equal(plugin.calls, 1);
    },
    moments: { 'while the plugin works': (kill) => void (plugin.onCall = kill) },
    disarm: () => void (plugin.onCall = () => {}),
  }));

test('a top-up: the processor reports it until it is heard, and it is credited once', (t) =>
  killAtEveryStep(t, runtime, {
    start: (databaseUrl) => startChild('web', runtime, { ...env, DATABASE_URL: databaseUrl }),
    async prepare() {
      const { address } = privateKeyToAccount(generatePrivateKey());
      const { body } = await ask(services.web, 'GET', `/api/wallet/top-up?amount=2500&address=${address}`);
      return { address, event: completedCheckout(body.sessionId, address, 2500) };
    },
    work: (child, { event }) => child.ask('POST', '/api/wallet/top-up', event, reportHeaders(event)),
    async check({ address, event }) {
      const again = await ask(services.web, 'POST', '/api/wallet/top-up', event, reportHeaders(event));
      assert.deepEqual(again, { status: 200, body: { received: true } });
      assert.equal((await ledger.balance(runtime.db.system, walletAccount(address).id)).balance, 25_000_000n);
    },
  }));

test('a payment of an agent: made once, or failed and not counted', (t) =>
  killAtEveryStep(t, runtime, {
    start: (databaseUrl) => startChild('web', runtime, { ...env, DATABASE_URL: databaseUrl }),
    async prepare() {
      const user = await addUser(runtime);
      const headers = { authorization: `Bearer ${user.key}` };
      const { body } = await ask(services.web, 'POST', '/api/wallet', { action: 'create' }, headers);
      await fund(runtime.db, body.address, FUNDS);
      const recipient = privateKeyToAccount(generatePrivateKey()).address;
      return { user, address: body.address as string, headers, recipient };
    },
    work: (child, { headers, recipient }) =>
      child.ask('POST', '/api/paygate', { action: 'pay', agentId: 'mine', amount: 0.4, recipient }, headers),
    async check({ user, address, recipient }, answer) {
      const left = (await ledger.balance(runtime.db.system, walletAccount(address).id)).balance;
      const got = (await ledger.balance(runtime.db.system, owedAccount(recipient).id)).balance;
      const rows = await runtime.db.user(user.id).selectFrom('agent_payments').select('status').execute();
      const made = rows.filter(({ status }) => status === 'paid').length;
      assert.ok(rows.length <= 1 && rows.every(({ status }) => status === 'paid' || status === 'failed'));
      assert.deepEqual([FUNDS - left, got], made === 1 ? [400_000n, 400_000n] : [0n, 0n]);
      if (answer?.status === 200) assert.equal(made, 1);
    },
  }));
