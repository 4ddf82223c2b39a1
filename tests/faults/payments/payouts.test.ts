import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount, type Address } from 'viem/accounts';
import { testRuntime } from '@troupe/testing/database/runtime';
import { CHAIN, createLedger, owedAccount, walletAccount } from '@troupe/ledger';
import { startTestChain } from '@troupe/testing/chain/chain';
import { fund } from '@troupe/testing/money/fund';
import { addUser } from '@troupe/testing/services/users';
import { killAtEveryStep, settled, startChild, type Answer, type Child } from './killing.ts';
import { tapRpc } from './stand-ins.ts';

/** What agents pay to addresses outside of the platform, from the request to the transfer on-chain. */

const TOKEN = '0x20c0000000000000000000000000000000000000';
const FUNDS = 1_000_000n;
const UNITS = 400_000n;
const OPEN = `select 'payout ' || id from payouts where status in ('owed', 'sent')`;
const ledger = createLedger({ clock: () => new Date() });

const chain = await startTestChain({ chainId: 42431 });
await chain.tip20(TOKEN, 'pathUSD');
const key = generatePrivateKey();
const treasury = privateKeyToAccount(key).address;
await chain.client.setBalance({ address: treasury, value: parseEther('10') });
await chain.mint(TOKEN, treasury, 100_000_000n);
const rpc = await tapRpc(chain.rpcUrl);
const env = {
  CHAIN_TESTNET: 'true',
  PAYEE_ADDRESS: '0x00000000000000000000000000000000000000ee',
  SETTLEMENT_KEY: key,
};
/** Nobody works here: what a process does not finish waits until another one is started. */
const runtime = await testRuntime(env);
after(async () => {
  await runtime.close();
  rpc.close();
  await chain.close();
});

const start = (databaseUrl: string) =>
  startChild('web', runtime, { ...env, CHAIN_RPC_URL: rpc.url, DATABASE_URL: databaseUrl });
const rescue = () =>
  startChild('web', runtime, { ...env, CHAIN_RPC_URL: chain.rpcUrl, DATABASE_URL: runtime.databaseUrl });
const balanceOf = async ({ id }: { id: string }) => (await ledger.balance(runtime.db.system, id)).balance;
const booked = () => balanceOf(CHAIN);

async function newPayment() {
  const user = await addUser(runtime);
  const recipient: Address = privateKeyToAccount(generatePrivateKey()).address;
  return { user, recipient, wallet: '', booked: await booked(), left: await chain.balance(TOKEN, treasury) };
}
type Payment = Awaited<ReturnType<typeof newPayment>>;

/** Pays, and waits until the transfer is booked or the process is dead. */
async function payOut(child: Child, payment: Payment): Promise<Answer> {
  const { user, recipient } = payment;
  const headers = { authorization: `Bearer ${user.key}` };
  payment.wallet = (await child.ask('POST', '/api/wallet', { action: 'create' }, headers)).body.address;
  await fund(runtime.db, payment.wallet, FUNDS);
  const body = { action: 'pay', agentId: 'mine', amount: 0.4, recipient };
  const answer = await child.ask('POST', '/api/paygate', body, headers);
  while ((await statusOf(recipient)) !== 'paid') {
    await child.ask('GET', '/api/health');
    await delay(20);
  }
  return answer;
}

const statusOf = async (recipient: string) =>
  (await runtime.db.system.selectFrom('payouts').select('status').where('address', '=', recipient).executeTakeFirst())
    ?.status;

async function assertPaid({ user, recipient, wallet }: Payment, wanted?: boolean): Promise<boolean> {
  const rows = await runtime.db.user(user.id).selectFrom('agent_payments').select('status').execute();
  const made = rows.some(({ status }) => status === 'paid');
  assert.ok(rows.length <= 1 && rows.every(({ status }) => status === 'paid' || status === 'failed'));
  if (wanted !== undefined) assert.equal(made, wanted);
  assert.equal(await statusOf(recipient), made ? 'paid' : undefined);
  assert.equal(await chain.balance(TOKEN, recipient), made ? UNITS : 0n);
  assert.equal(await balanceOf(owedAccount(recipient)), 0n);
  assert.equal(FUNDS - (await balanceOf(walletAccount(wallet))), made ? UNITS : 0n);
  return made;
}

const atCall = (method: string, at: 'before' | 'after') => (kill: () => Promise<void>) => {
  rpc.onCall = async (asked, when) => {
    if (asked === method && when === at) await kill();
  };
};
const disarm = () => void (rpc.onCall = () => {});

test('a payout: whoever paid, the payee gets it once, and the books say so', (t) =>
  killAtEveryStep(t, runtime, {
    start,
    alone: true,
    open: OPEN,
    prepare: newPayment,
    work: payOut,
    async check(payment, answer) {
      const made = await assertPaid(payment, answer?.status === 200 ? true : undefined);
      assert.equal(payment.left - (await chain.balance(TOKEN, treasury)), made ? UNITS : 0n);
      assert.equal((await booked()) - payment.booked, made ? UNITS : 0n);
    },
    moments: {
      'before the transfer is signed': atCall('eth_estimateGas', 'before'),
      'before the stored transfer is sent': atCall('eth_sendRawTransaction', 'before'),
      'after it was sent, before that is known': atCall('eth_sendRawTransaction', 'after'),
      'after it was mined, before that is booked': atCall('eth_getTransactionReceipt', 'after'),
    },
    disarm,
  }));

test('a payout whose place on the chain another one takes is sent again, and paid once', async () => {
  const [first, second] = [await newPayment(), await newPayment()];
  const child = await start(runtime.databaseUrl);
  const dead = new Promise<void>((resolve) => {
    atCall('eth_sendRawTransaction', 'before')(() => child.kill().then(resolve));
  });
  await payOut(child, first).catch(() => {});
  await dead;
  disarm();
  assert.equal(await statusOf(first.recipient), 'sent');

  const rescuer = await rescue();
  try {
    // The dead process's job is still taken for running: the next payment comes first.
    await payOut(rescuer, second);
    assert.equal(await statusOf(first.recipient), 'sent');
    await settled(runtime, OPEN);
    for (const payment of [first, second]) await assertPaid(payment, true);
    assert.equal(first.left - (await chain.balance(TOKEN, treasury)), 2n * UNITS);
  } finally {
    await rescuer.kill();
  }
});
