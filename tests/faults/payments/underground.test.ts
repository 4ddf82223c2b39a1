import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseEther, type Address } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { L2_USDC } from '@troupe/chain';
import { newId } from '@troupe/kernel';
import { createLedger, owedAccount, walletAccount } from '@troupe/ledger';
import { startTestChain } from '@troupe/testing/chain/chain';
import { fund } from '@troupe/testing/money/fund';
import { addUser, startServices } from '@troupe/testing/services/services';
import { ask, killAtEveryStep, startChild } from './killing.ts';
import { tapRpc } from './stand-ins.ts';

const ledger = createLedger({ clock: () => new Date() });
const chain = await startTestChain({ chainId: 8453 });
await chain.token(L2_USDC, { symbol: 'USDC' });
const rpc = await tapRpc(chain.rpcUrl);
/** Another process, which lives on. */
const services = await startServices({ L2_RPC_URL: chain.rpcUrl });
const { runtime } = services;
after(async () => {
  await services.stop();
  rpc.close();
  await chain.close();
});

const balanceOf = async (account: { id: string }) => (await ledger.balance(runtime.db.system, account.id)).balance;
const startBackend = (databaseUrl: string) =>
  startChild('backend', runtime, { L2_RPC_URL: rpc.url, DATABASE_URL: databaseUrl });

/** An agent, its owner's headers, and the wallet that the platform made for it. */
async function newAgent() {
  const { id: userId, email } = await addUser(runtime, { plan: 'solo' });
  const agentId = newId();
  const agent = { id: agentId, user_id: userId, name: 'Agent', status: 'running' as const };
  await runtime.db.system.insertInto('agents').values(agent).execute();
  const authorization = `Bearer ${runtime.settings.INTERNAL_API_KEY}`;
  const headers = { authorization, 'x-user-id': userId, 'x-user-email': email };
  const made = await ask(services.backend, 'POST', '/api/underground/wallets', { agentId }, headers);
  return { agentId, headers, wallet: made.body.address as Address };
}

test('tickets: bought and paid once, however often they are asked for', (t) =>
  killAtEveryStep(t, runtime, {
    start: startBackend,
    async prepare() {
      const [host, guest] = [await newAgent(), await newAgent()];
      await fund(runtime.db, guest.wallet, 10_000_000n);
      const event = await ask(
        services.backend,
        'POST',
        '/api/underground/events',
        {
          agentId: host.agentId,
          name: 'Night',
          description: 'A night',
          venue: 'Cellar',
          eventDate: '2030-01-01',
          ticketPriceUsdc: '2.50',
          totalTickets: 10,
        },
        host.headers,
      );
      const order = [
        'POST',
        `/api/underground/events/${event.body.id}/tickets`,
        { agentId: guest.agentId, quantity: 2 },
        { ...guest.headers, 'idempotency-key': newId() },
      ] as const;
      return { host, guest, id: event.body.id as number, order };
    },
    work: (child, { order }) => child.ask(...order),
    async check({ host, guest, id, order }, answer) {
      const bought = async () => [
        (await ask(services.backend, 'GET', `/api/underground/events/${id}`, undefined, guest.headers)).body
          .tickets_sold,
        await balanceOf(walletAccount(guest.wallet)),
        await balanceOf(walletAccount(host.wallet)),
      ];
      const once = [2, 5_000_000n, 5_000_000n];
      const found = await bought();
      if (answer === null) assert.ok([0, 2].includes(found[0] as number));
      if (found[0] === 0) assert.deepEqual(found, [0, 10_000_000n, 0n]);
      else assert.deepEqual(found, once);
      assert.equal((await ask(services.backend, ...order)).status, 201);
      assert.deepEqual(await bought(), once);
    },
  }));

const atCall = (method: string, at: 'before' | 'after') => (kill: () => Promise<void>) => {
  rpc.onCall = async (asked, when) => {
    if (asked === method && when === at) await kill();
  };
};

test('a split: each part is paid on-chain once, or owed', (t) =>
  killAtEveryStep(t, runtime, {
    start: startBackend,
    async prepare() {
      const agent = await newAgent();
      await chain.mint(L2_USDC, agent.wallet, 10_000_000n);
      await chain.client.setBalance({ address: agent.wallet, value: parseEther('1') });
      const recipients = [70, 30].map((share) => ({
        address: privateKeyToAccount(generatePrivateKey()).address,
        share,
      }));
      const request = [
        'POST',
        '/api/underground/splits',
        { agentId: agent.agentId, name: 'Show', totalAmount: '10', recipients },
        { ...agent.headers, 'idempotency-key': newId() },
      ] as const;
      return { ...agent, recipients, request };
    },
    work: (child, { request }) => child.ask(...request),
    async check({ wallet, recipients, request }) {
      const state = async () => {
        const paid = await Promise.all(recipients.map(({ address }) => chain.balance(L2_USDC, address)));
        const owed = await Promise.all(recipients.map(({ address }) => balanceOf(owedAccount(address))));
        return { paid, owed, left: await chain.balance(L2_USDC, wallet) };
      };
      const { paid, owed, left } = await state();
      const parts = recipients.map(({ share }) => BigInt(share) * 100_000n);
      const sums = parts.map((_, index) => paid[index]! + owed[index]!);
      assert.ok([0n, 10_000_000n].includes(sums[0]! + sums[1]!), `${sums}`);
      assert.equal(left, 10_000_000n - paid[0]! - paid[1]!);
      for (const [index, part] of parts.entries()) assert.ok([0n, part].includes(paid[index]!), `${paid}`);
      const again = await ask(services.backend, ...request);
      assert.equal(again.status, 200);
      const after = await state();
      assert.deepEqual(
        parts.map((_, index) => after.paid[index]! + after.owed[index]!),
        parts,
      );
      // What was begun on-chain is finished there.
      if (sums[0]! > 0n) assert.deepEqual([paid, owed], [parts, [0n, 0n]]);
    },
    moments: {
      'before the first stored transfer is sent': atCall('eth_sendRawTransaction', 'before'),
      'after it was sent, before that is known': atCall('eth_sendRawTransaction', 'after'),
    },
    disarm: () => void (rpc.onCall = () => {}),
  }));
