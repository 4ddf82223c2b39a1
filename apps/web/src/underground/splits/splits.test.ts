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

const split = (agentId: string, share = 100) => ({
  agentId,
  name: 'Royalties',
  totalAmount: '10',
  recipients: [{ address: '0x0000000000000000000000000000000000000001', share }],
});

test('a split is made once for each key, and listed to its owner', async () => {
  const make = () => ann.at('POST', 'splits', split(ann.agentId), { 'idempotency-key': 'k1' });
  const [first, again] = [await make(), await make()];
  assert.deepEqual([first.status, again.body.splitId], [200, first.body.splitId], JSON.stringify(first.body));
  const { splits, count } = (await ann.at('GET', 'splits?limit=5')).body;
  assert.deepEqual([count, splits[0].splitId], [1, first.body.splitId]);
  assert.equal((await ben.at('GET', 'splits')).body.count, 0);
});

test('refuses another’s agent, shares that do not sum up, and nobody', async () => {
  assert.deepEqual(await ben.at('POST', 'splits', split(ann.agentId)), NOT_YOURS);
  assert.deepEqual(await ben.at('POST', 'splits', split(ben.agentId, 99)), {
    status: 400,
    body: { error: 'Recipient shares must total 100% (got 99%)' },
  });
  assert.deepEqual(await world.asStranger('GET', 'splits'), UNAUTHORIZED);
});
