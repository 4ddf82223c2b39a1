import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEther } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { signVoucher } from '@troupe/chain';
import { gatewayVoucherJob, settlementJob } from '@troupe/contract';
import { type Runtime } from '@troupe/db';
import { testRuntime } from '@troupe/testing/database/runtime';
import { randomHex } from '@troupe/kernel';
import { CHAIN, createLedger, REVENUE, SETTLING, verifyLedger, walletAccount } from '@troupe/ledger';
import { createWeb } from '@troupe/web';
import { startTestChain, type TestChain } from '@troupe/testing/chain/chain';
import { fund } from '@troupe/testing/money/fund';
import { startChild, type Child } from './killing.ts';
import { startPlugin, tapRpc, type PluginStandIn, type RpcTap } from './stand-ins.ts';

/** The web service is killed in the middle of payments; another one finishes what it left. */

const TOKEN = '0x20c0000000000000000000000000000000000000';
const PAYEE = '0x00000000000000000000000000000000000000ee';
const SESSIONS = '/api/wallet/sessions';
const ledger = createLedger({ clock: () => new Date() });

let chain: TestChain;
let env: Record<string, string>;
let rpc: RpcTap;
let plugin: PluginStandIn;

before(async () => {
  chain = await startTestChain({ chainId: 42431 });
  await chain.tip20(TOKEN, 'pathUSD');
  rpc = await tapRpc(chain.rpcUrl);
  plugin = await startPlugin();
  const settlementKey = generatePrivateKey();
  const { address } = privateKeyToAccount(settlementKey);
  await chain.client.setBalance({ address, value: parseEther('10') });
  await chain.mint(TOKEN, address, 1_000_000_000n);
  env = {
    CHAIN_RPC_URL: rpc.url,
    CHAIN_TESTNET: 'true',
    PAYEE_ADDRESS: PAYEE,
    SETTLEMENT_KEY: settlementKey,
    PLUGIN_AGENT_URL: plugin.url,
  };
});
after(async () => {
  rpc.close();
  plugin.close();
  await chain.close();
});

async function voucher(owner: PrivateKeyAccount, sessionId: string, units: bigint) {
  const one = { sessionId, plugin: 'agent', nonce: `0x${randomHex(32)}` as const };
  return { ...one, signature: await signVoucher(owner, { ...one, amount: units }, 42431) };
}

/** Everything that was left is taken up at once; a service waits two minutes before it does. */
async function takeUp(runtime: Runtime): Promise<void> {
  const { db, jobs } = runtime;
  const rows = async (table: 'payment_settlements' | 'payment_vouchers', status: ('pending' | 'sent' | 'held')[]) =>
    (await db.system.selectFrom(table).select('id').where('status', 'in', status).execute()).map(({ id }) =>
      String(id),
    );
  const settlements = await rows('payment_settlements', ['pending', 'sent']);
  const vouchers = await rows('payment_vouchers', ['held']);
  await db.asSystem(async (tx) => {
    for (const id of settlements) await jobs.send(tx, settlementJob, { id });
    for (const voucherId of vouchers) await jobs.send(tx, gatewayVoucherJob, { voucherId });
  });
  const end = Date.now() + 30_000;
  const open = async () => [
    ...(await rows('payment_settlements', ['pending', 'sent'])),
    ...(await rows('payment_vouchers', ['held'])),
  ];
  while (Date.now() < end && (await open()).length > 0) await delay(50);
  assert.deepEqual(await open(), []);
}

/** Runs `work` in a process that is killed when `armed` says so; a second service finishes; then the books are looked at. */
async function killed(
  arm: (kill: () => Promise<void>) => void,
  work: (web: Child, owner: PrivateKeyAccount, sessionId: string) => Promise<unknown>,
) {
  const runtime = await testRuntime(env);
  const owner = privateKeyToAccount(generatePrivateKey());
  await fund(runtime.db, owner.address, 10_000_000n);
  const before = await chain.balance(TOKEN, PAYEE);
  const child = await startChild('web', runtime, { ...env, DATABASE_URL: runtime.databaseUrl });
  const { id } = (await child.ask('POST', SESSIONS, { address: owner.address, deposit: '10' })).body.session;
  const dead = new Promise<true>((resolve) => {
    arm(() => child.kill().then(() => resolve(true)));
  });
  await work(child, owner, id).catch(() => {});
  const came = await Promise.race([dead, delay(20_000, false, { ref: false })]);
  rpc.onCall = () => {};
  plugin.onCall = () => {};
  assert.ok(came, 'the moment to be killed at never came');

  const web = await createWeb({
    ...runtime,
    url: 'http://127.0.0.1:3000',
    backendUrl: 'http://127.0.0.1:9',
    version: '0',
  });
  await runtime.jobs.start();
  await takeUp(runtime);
  const answer = await web.server.app.inject({ method: 'DELETE', url: `${SESSIONS}?sessionId=${id}` });
  await takeUp(runtime);
  const balances = async (account: string) => (await ledger.balance(runtime.db.system, account)).balance;
  const result = {
    closed: answer.json() as { settled: string; returned: string },
    wallet: await ledger.balance(runtime.db.system, walletAccount(owner.address).id),
    settling: await balances(SETTLING.id),
    booked: (await balances(CHAIN.id)) + (await balances(REVENUE.id)),
    onChain: (await chain.balance(TOKEN, PAYEE)) - before,
    broken: (await verifyLedger(runtime.db.system)).filter(({ broken }) => broken.length > 0),
  };
  await web.close();
  await runtime.close();
  return result;
}

/** What must be true when `units` were spent, and settled on-chain. */
function assertSpent(result: Awaited<ReturnType<typeof killed>>, units: bigint): void {
  assert.deepEqual(result.broken, []);
  const rest = 10_000_000n - units;
  assert.deepEqual(result.wallet, { balance: rest, held: 0n, available: rest });
  assert.equal(result.settling, 0n);
  assert.equal(result.booked, units);
  assert.equal(result.onChain, units);
  assert.deepEqual(
    [Number(result.closed.settled), Number(result.closed.returned)],
    [Number(units) / 1e6, Number(rest) / 1e6],
  );
}

describe('killed while a session settles on-chain: it is paid once', () => {
  const spendSix = async (web: Child, owner: PrivateKeyAccount, id: string) => {
    const { signature, nonce, sessionId } = await voucher(owner, id, 6_000_000n);
    const body = { sessionId, plugin: 'agent', nonce, signature, userAddress: owner.address, amount: '6' };
    await web.ask('POST', `${SESSIONS}/voucher`, body);
  };
  for (const [step, method, when] of [
    ['before the transaction is signed', 'eth_estimateGas', 'before'],
    ['before the stored transaction is sent', 'eth_sendRawTransaction', 'before'],
    ['after it was sent, before that is known', 'eth_sendRawTransaction', 'after'],
    ['after it was mined, before that is booked', 'eth_getTransactionReceipt', 'after'],
  ] as const)
    test(step, async () => {
      const result = await killed((kill) => {
        rpc.onCall = async (asked, at) => {
          if (asked === method && at === when) await kill();
        };
      }, spendSix);
      assertSpent(result, 6_000_000n);
    });
});

describe('killed while a plugin works: nothing is paid', () => {
  test('with a voucher held', async () => {
    const result = await killed(
      (kill) => void (plugin.onCall = kill),
      async (web, owner, id) => {
        const { nonce, signature } = await voucher(owner, id, 50_000n);
        const header = Buffer.from(JSON.stringify({ amount: '0.05', nonce, signature })).toString('base64url');
        await web.ask('POST', '/api/v1/gateway', {}, { 'x-session-id': id, 'x-payment-voucher': header });
      },
    );
    assertSpent(result, 0n);
  });
});

describe('killed while a session closes', () => {
  test('before the last settlement is signed: the rest is back, and the settlement is paid once', async () => {
    const result = await killed(
      (kill) => {
        rpc.onCall = async (asked, at) => {
          if (asked === 'eth_estimateGas' && at === 'before') await kill();
        };
      },
      async (web, owner, id) => {
        const { signature, nonce, sessionId } = await voucher(owner, id, 1_250_000n);
        const body = { sessionId, plugin: 'agent', nonce, signature, userAddress: owner.address, amount: '1.25' };
        await web.ask('POST', `${SESSIONS}/voucher`, body);
        await web.ask('DELETE', `${SESSIONS}?sessionId=${id}`);
      },
    );
    assertSpent(result, 1_250_000n);
  });
});
