import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseEther, type Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { L2_USDC, signVoucher } from '@troupe/chain';
import { newId, randomHex } from '@troupe/kernel';
import { createLedger, owedAccount, walletAccount } from '@troupe/ledger';
import { startTestChain } from '@troupe/testing/chain/chain';
import { fund } from '@troupe/testing/money/fund';
import { addUser, startServices } from '@troupe/testing/services/services';
import { ask, settled } from './killing.ts';
import { startPlugin, tapRpc, type RpcMode } from './stand-ins.ts';

/** Nodes that are down, silent or lie: everybody is answered, nobody's money is lost, and what was begun is finished. */

const TOKEN = '0x20C0000000000000000000000000000000000000';
const PAYEE = '0x00000000000000000000000000000000000000ee';
const ledger = createLedger({ clock: () => new Date() });

const [chain, l2] = [await startTestChain({ chainId: 42431 }), await startTestChain({ chainId: 8453 })];
await chain.tip20(TOKEN, 'pathUSD');
await l2.token(L2_USDC, { symbol: 'USDC' });
const [rpc, l2Rpc] = [await tapRpc(chain.rpcUrl), await tapRpc(l2.rpcUrl)];
const plugin = await startPlugin();
const key = generatePrivateKey();
const treasury = privateKeyToAccount(key).address;
await chain.client.setBalance({ address: treasury, value: parseEther('10') });
await chain.mint(TOKEN, treasury, 1_000_000_000n);
const services = await startServices({
  CHAIN_RPC_URL: rpc.url,
  CHAIN_TESTNET: 'true',
  L2_RPC_URL: l2Rpc.url,
  PAYEE_ADDRESS: PAYEE,
  SETTLEMENT_KEY: key,
  PLUGIN_AGENT_URL: plugin.url,
});
const { runtime } = services;
after(async () => {
  await services.stop();
  for (const one of [rpc, l2Rpc, plugin]) one.close();
  await chain.close();
  await l2.close();
});

/** A session with 1.25 of 10.00 spent. */
async function spentSession() {
  const owner = privateKeyToAccount(generatePrivateKey());
  await fund(runtime.db, owner.address, 10_000_000n);
  const opened = await ask(services.web, 'POST', '/api/wallet/sessions', { address: owner.address, deposit: '10' });
  const { id } = opened.body.session;
  const one = { sessionId: id as string, plugin: 'agent', nonce: `0x${randomHex(32)}` as const };
  const signature = await signVoucher(owner, { ...one, amount: 1_250_000n }, 42431);
  const body = { ...one, signature, amount: '1.25', userAddress: owner.address };
  assert.equal((await ask(services.web, 'POST', '/api/wallet/sessions/voucher', body)).status, 200);
  return { owner, id };
}

async function fundedAgent() {
  const { id: userId, email } = await addUser(runtime, { plan: 'solo' });
  const agentId = newId();
  const agent = { id: agentId, user_id: userId, name: 'Agent', status: 'running' as const };
  await runtime.db.system.insertInto('agents').values(agent).execute();
  const authorization = `Bearer ${runtime.settings.INTERNAL_API_KEY}`;
  const headers = { authorization, 'x-user-id': userId, 'x-user-email': email };
  const made = await ask(services.backend, 'POST', '/api/underground/wallets', { agentId }, headers);
  const wallet = made.body.address as Address;
  await l2.mint(L2_USDC, wallet, 10_000_000n);
  await l2.client.setBalance({ address: wallet, value: parseEther('1') });
  return { agentId, headers, wallet };
}

for (const mode of ['down', 'silent', 'liar'] as const satisfies RpcMode[])
  test(mode, async () => {
    const [{ owner, id }, agent] = [await spentSession(), await fundedAgent()];
    const to = privateKeyToAccount(generatePrivateKey()).address;
    const before = await chain.balance(TOKEN, PAYEE);
    rpc.mode = l2Rpc.mode = mode;
    const web = async (method: string, url: string, body?: object) => ask(services.web, method, url, body);
    const split = { agentId: agent.agentId, name: 'x', totalAmount: '4', recipients: [{ address: to, share: 100 }] };
    const [balance, transactions, call, closed, divided, held] = await Promise.all([
      web('GET', `/api/wallet?address=${owner.address}`),
      web('GET', `/api/wallet/transactions?address=${owner.address}`),
      web('POST', '/api/v1/gateway', { prompt: 'hi' }),
      web('DELETE', `/api/wallet/sessions?sessionId=${id}`),
      ask(services.backend, 'POST', '/api/underground/splits', split, agent.headers),
      ask(services.backend, 'GET', `/api/underground/wallets/${agent.wallet}/balance`, undefined, agent.headers),
    ]);
    rpc.mode = l2Rpc.mode = 'up';
    assert.deepEqual(balance, { status: 500, body: { error: 'Failed to fetch balance' } });
    assert.deepEqual(transactions, { status: 500, body: { error: 'Failed to fetch transactions' } });
    assert.deepEqual([call.status, call.body.error], [503, 'payment_unavailable']);
    assert.deepEqual(held, { status: 503, body: { error: 'Chain unavailable' } });
    assert.deepEqual(closed, { status: 200, body: { success: true, returned: '8.75', settled: '1.25' } });
    assert.deepEqual([divided.status, divided.body.payout], [200, 'accrued']);
    assert.equal((await ledger.balance(runtime.db.system, walletAccount(owner.address).id)).available, 8_750_000n);
    assert.equal((await ledger.balance(runtime.db.system, owedAccount(to).id)).balance, 4_000_000n);
    assert.equal(await l2.balance(L2_USDC, to), 0n);
    assert.equal(plugin.calls, 0);
    await settled(runtime);
    assert.equal((await chain.balance(TOKEN, PAYEE)) - before, 1_250_000n);
  });
