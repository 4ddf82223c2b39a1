import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NOT_YOURS, startUnderground, UNAUTHORIZED, type Owner } from '../testing.ts';

let world: Awaited<ReturnType<typeof startUnderground>>;
let ann: Owner;
let ben: Owner;
before(async () => {
  world = await startUnderground();
  ann = await world.owner();
  ben = await world.owner();
});
after(() => world.stop());

test('the wallet of an agent is made once, for its owner', async () => {
  const made = await ann.at('POST', 'wallets', { agentId: ann.agentId });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const again = await ann.at('POST', 'wallets', { agentId: ann.agentId });
  assert.deepEqual([again.status, again.body.address], [200, made.body.address]);
  assert.equal((await ann.at('GET', 'wallets')).body.count, 1);
  const balance = `wallets/${made.body.address}/balance`;
  assert.deepEqual((await ann.at('GET', balance)).body, { address: made.body.address, balance_usdc: 0 });
  assert.equal((await ben.at('GET', balance)).status, 404);
});

test('refuses another’s agent, no agent and nobody', async () => {
  assert.deepEqual(await ben.at('POST', 'wallets', { agentId: ann.agentId }), NOT_YOURS);
  assert.deepEqual(await ben.at('POST', 'wallets', {}), { status: 400, body: { error: 'agentId required' } });
  assert.equal((await ben.at('GET', 'wallets')).body.count, 0);
  assert.deepEqual(await world.asStranger('GET', 'wallets'), UNAUTHORIZED);
});
