import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { signedIn, testWeb, type TestWeb } from '../../testing.ts';
import { client } from '../testing.ts';

let web: TestWeb;
let its: ReturnType<typeof client>;
before(async () => {
  web = await testWeb();
  its = client(web);
});
after(() => web.stop());

const read = (address: string, headers = {}) =>
  its.ask('GET', `/api/wallet/ledger?address=${address}`, undefined, headers);

test('the owner of a wallet reads what is in it and how it came there', async () => {
  const { person, address } = await its.funded(2_500_000n);
  const { status, body } = await read(address, person.headers);
  const [{ id, timestamp, ...entry }, ...others] = body.entries;
  assert.deepEqual([status, body.address, body.balance, body.available], [200, address, '2.50', '2.50']);
  assert.deepEqual([others, entry], [[], { kind: 'top-up', amount: '2.50', balance: '2.50' }]);
  assert.match(id, /^\d+$/);
  assert.ok(Date.parse(timestamp) <= Date.now());
  const admin = await signedIn(web);
  await web.deps.db.system.updateTable('users').set({ is_admin: true }).where('id', '=', admin.id).execute();
  assert.equal((await read(address, admin.headers)).body.balance, '2.50');
});

test('nobody else reads it, and what is no address is said', async () => {
  const { person, address } = await its.funded(1n);
  const other = await signedIn(web);
  for (const headers of [{}, other.headers])
    assert.deepEqual(await read(address, headers), { status: 401, body: { error: 'Unauthorized' } });
  for (const bad of ['', '0x12', `${address}0`]) assert.equal((await read(bad, person.headers)).status, 400, bad);
});
