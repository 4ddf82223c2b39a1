import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { walletProofMessage } from '@troupe/chain';
import { createParties } from '../bus-testing.ts';
import { startUnderground, type Person } from '../testing.ts';

const world = await startUnderground();
const { party } = createParties(world);
after(() => world.stop());

const WALLETS = '/api/underground/wallets';
const make = (person: Person, agentId: unknown) => world.ask('POST', WALLETS, person, { agentId });

test('the platform’s wallet of an agent is made once, at once too, and listed with what is in it', async () => {
  const person = await world.person();
  const agentId = await world.agent(person);
  const made = await Promise.all(Array.from({ length: 5 }, () => make(person, agentId)));
  const [address, ...others] = [...new Set(made.map(({ body }) => body.address as string))];
  assert.deepEqual(others, []);
  assert.match(address!, /^0x[0-9a-fA-F]{40}$/);
  assert.deepEqual(
    made.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 200, 200, 200, 201],
  );
  await world.fund(address!, 2_500_000n);
  const { wallets, count } = (await world.ask('GET', WALLETS, person)).body;
  const { createdAt, ...wallet } = wallets[0];
  assert.ok(Date.parse(createdAt) <= Date.now());
  assert.deepEqual([count, wallet], [1, { address, agentId, kind: 'platform', available: '2.50', owed: '0.00' }]);
  const balance = await world.ask('GET', `${WALLETS}/${address}/balance`, person);
  assert.deepEqual(balance, { status: 200, body: { address, balance_usdc: 2.5 } });
});

test('another user’s agent gets none, and another’s wallets are not seen', async () => {
  const [owner, other] = [await world.person(), await world.person()];
  const agentId = await world.agent(owner);
  const { address } = (await make(owner, agentId)).body;
  for (const id of [agentId, 'nobody'])
    assert.deepEqual(await make(other, id), {
      status: 403,
      body: { error: 'Agent not found or not owned by you' },
    });
  assert.deepEqual(await make(other, undefined), { status: 400, body: { error: 'agentId required' } });
  assert.equal((await world.ask('GET', WALLETS, other)).body.count, 0);
  const balance = await world.ask('GET', `${WALLETS}/${address}/balance`, other);
  assert.deepEqual(balance, { status: 404, body: { error: 'Wallet not found' } });
  assert.equal((await world.ask('GET', WALLETS, null)).status, 401);
});

test('an own wallet needs a proof for this very agent', async () => {
  const { person, account, agentId } = await party();
  const other = await world.agent(person);
  const { address } = account;
  const proof = await account.signMessage({ message: walletProofMessage(address, agentId) });
  for (const given of [{ proof }, { proof: '0x00' }, { proof: undefined }])
    assert.deepEqual(await world.ask('POST', WALLETS, person, { agentId: other, address, ...given }), {
      status: 401,
      body: { error: 'Invalid wallet proof' },
    });
  const bad = await world.ask('POST', WALLETS, person, { agentId, address: '0x12', proof });
  assert.deepEqual(bad, { status: 400, body: { error: 'Invalid address' } });
});
