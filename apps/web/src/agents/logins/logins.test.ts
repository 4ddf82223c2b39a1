import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLogins } from '@troupe/roster';
import { person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let id: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  id = await provisioned(ann);
});
after(() => services.stop());

const LOGIN = { origin: 'https://Shop.example:443/sign-in?x=1', username: 'ada', password: 'correct-horse' };

test('a login is sealed for its site, and never told again', async () => {
  const saved = await ann.ask('PUT', `/api/agents/${id}/logins/shop`, LOGIN);
  assert.deepEqual(saved, { status: 200, body: { success: true } });
  const { body } = await ann.ask('GET', `/api/agents/${id}/logins`);
  assert.equal(body.count, 1);
  assert.deepEqual(Object.keys(body.logins[0]).toSorted(), ['name', 'origin', 'updatedAt']);
  assert.deepEqual([body.logins[0].name, body.logins[0].origin], ['shop', 'https://shop.example']);
  const { db } = services.runtime;
  const [row] = await db.system.selectFrom('agent_logins').selectAll().execute();
  assert.ok(!row?.sealed.toString('latin1').includes('correct-horse'));
});

test('what is sealed opens for its agent, its name and its site alone', async () => {
  const { db } = services.runtime;
  const logins = createLogins({ db, sealKey: 'a key of this test' });
  const whose = { userId: ann.id, agentId: id };
  const login = { name: 'shop', origin: 'https://shop.example', username: 'ada', password: 'correct-horse' };
  assert.equal(await logins.save(whose, login, { most: 20, at: new Date() }), true);
  assert.deepEqual(await logins.open(whose, 'shop'), login);
  assert.equal(await logins.open({ ...whose, userId: 'somebody' }, 'shop'), undefined);
  // Whoever changes the row's origin gets nothing out of it.
  await db.system.updateTable('agent_logins').set({ origin: 'https://evil.example' }).execute();
  await assert.rejects(logins.open(whose, 'shop'));
});

test('it is replaced and removed', async () => {
  const again = { ...LOGIN, origin: 'https://other.example' };
  assert.equal((await ann.ask('PUT', `/api/agents/${id}/logins/shop`, again)).status, 200);
  const { body } = await ann.ask('GET', `/api/agents/${id}/logins`);
  assert.deepEqual([body.count, body.logins[0].origin], [1, 'https://other.example']);
  assert.equal((await ann.ask('DELETE', `/api/agents/${id}/logins/shop`)).status, 200);
  assert.deepEqual(await ann.ask('DELETE', `/api/agents/${id}/logins/shop`), {
    status: 404,
    body: { error: 'Login not found' },
  });
});

test('what is wrong is said', async () => {
  const put = async (body: unknown, name = 'shop') =>
    (await ann.ask('PUT', `/api/agents/${id}/logins/${name}`, body)).body.error;
  for (const origin of ['shop.example', 'http://shop.example', 'https://a:b@shop.example', 'file:///x', '', 7])
    assert.equal(await put({ ...LOGIN, origin }), 'Give the address of the site, such as https://shop.example');
  assert.equal(await put({ ...LOGIN, username: '' }), 'Username required');
  assert.equal(await put({ ...LOGIN, password: undefined }), 'Password required');
  assert.equal(await put(LOGIN, 'a%20b'), 'A login is named by letters, digits, - and _');
});

test('an agent has twenty at most', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 22 }, (_, index) => ann.ask('PUT', `/api/agents/${id}/logins/l${index}`, LOGIN)),
  );
  assert.equal(statuses.filter(({ status }) => status === 200).length, 20);
  assert.deepEqual(statuses.find(({ status }) => status !== 200)?.body, { error: 'An agent has 20 logins at most' });
  assert.equal((await ann.ask('PUT', `/api/agents/${id}/logins/l3`, LOGIN)).status !== 500, true);
});
