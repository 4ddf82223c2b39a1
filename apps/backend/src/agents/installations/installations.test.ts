import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testUser } from '@troupe/testing/database/server';
import { createCipher, identityHeaders } from '@troupe/kernel';
import { TEST_SECRETS } from '@troupe/testing/http/server';
import { testBackend, type TestBackend } from '../../testing.ts';
import { createInstallations } from './service.ts';

let backend: TestBackend;
let open: TestBackend;
before(async () => {
  backend = await testBackend();
  open = await testBackend({ env: { BASE_URL: 'https://troupe.example' } });
});
after(async () => {
  await backend.stop();
  await open.stop();
});

const send = (to: TestBackend, url: string, payload: object, headers: Record<string, string> = {}) =>
  to.server.app.inject({ method: 'POST', url, payload, headers });
const list = async (to: TestBackend, headers: Record<string, string>) =>
  (await to.server.app.inject({ url: '/api/installations', headers })).json();
const signed = (id: string) =>
  identityHeaders(TEST_SECRETS.sessionSecret, { id, email: `${id}@x.y`, isAdmin: false }, new Date());

test('one record a user: registering again updates it, the caller sees the own one', async () => {
  const first = await send(backend, '/api/register-home', { userId: 'ada', gatewayToken: 'a'.repeat(48) });
  assert.equal(first.statusCode, 200);
  assert.equal(first.json().success, true);
  assert.match(first.json().dashboardUrl, /dashboard$/);
  await send(backend, '/api/register-link', { userId: 'ada' });
  await send(backend, '/api/register-home', { userId: 'bob' });
  const { count, installations } = await list(backend, { 'x-user-id': 'ada' });
  assert.equal(count, 1);
  assert.deepEqual(
    [installations[0].user_id, installations[0].mode, installations[0].status],
    ['ada', 'link', 'active'],
  );
  assert.deepEqual((await list(backend, {})).installations, []);
});

test('a missing userId is told', async () => {
  for (const url of ['/api/register-home', '/api/register-link'])
    for (const payload of [{}, { userId: '' }, { userId: 5 }]) {
      const answer = await send(backend, url, payload);
      assert.deepEqual([answer.statusCode, answer.json()], [400, { success: false, error: 'userId required' }]);
    }
});

test('another gateway token for an existing record needs the user’s key; the same or none does not', async () => {
  await send(backend, '/api/register-home', { userId: 'carl', gatewayToken: 'c'.repeat(48) });
  assert.equal(
    (
      await send(
        backend,
        '/api/register-home',
        { userId: 'carl', gatewayToken: 'd'.repeat(48) },
        { 'x-user-id': 'carl' },
      )
    ).statusCode,
    403,
  );
  assert.equal(
    (await send(backend, '/api/register-home', { userId: 'carl', gatewayToken: 'c'.repeat(48) })).statusCode,
    200,
  );
  assert.equal((await send(backend, '/api/register-home', { userId: 'carl' })).statusCode, 200);
  assert.equal(
    (await send(backend, '/api/register-home', { userId: 'carl', gatewayToken: 'd'.repeat(48) })).statusCode,
    403,
  );
});

test('on a public name headers alone are nobody; a signature by web counts', async () => {
  await send(open, '/api/register-home', { userId: 'dora' });
  assert.equal((await list(open, { 'x-user-id': 'dora' })).count, 0);
  assert.equal((await list(open, signed('dora'))).count, 1);
});

test('on a public name nobody registers, moves or keeps alive the installation of somebody who has an account', async () => {
  const { db } = open.deps;
  await testUser(db, 'greta');
  await testUser(db, 'hans');
  const row = () => db.system.selectFrom('installations').selectAll().where('user_id', '=', 'greta').executeTakeFirst();
  const register = (headers: Record<string, string>) =>
    send(open, '/api/register-link', { userId: 'greta', gatewayToken: 'g'.repeat(48) }, headers);
  const strangers: Record<string, string>[] = [{}, { 'x-user-id': 'greta' }, signed('hans')];
  for (const headers of strangers) {
    const refused = await register(headers);
    assert.deepEqual(
      [refused.statusCode, refused.json()],
      [403, { success: false, error: 'This needs the user’s API key' }],
    );
  }
  assert.equal(await row(), undefined);
  assert.equal((await register(signed('greta'))).statusCode, 200);
  const made = await row();
  for (const headers of strangers)
    assert.equal((await send(open, '/api/heartbeat', { userId: 'greta' }, headers)).json().success, true);
  assert.deepEqual(await row(), made);
  await send(open, '/api/heartbeat', {}, signed('greta'));
  assert.ok((await row())!.last_seen > made!.last_seen);
});

test('a heartbeat of a known user counts, of an unknown one is answered all the same', async () => {
  const { db, clock } = backend.deps;
  let now = clock();
  const service = createInstallations({
    db,
    clock: () => now,
    cipher: createCipher('x', 'y'),
    dashboardUrl: '',
    open: true,
  });
  const eve = { id: 'eve', email: null, role: null, verified: false, byKey: false };
  await service.register(eve, 'eve', 'home', undefined);
  now = new Date(now.getTime() + 5 * 60_000 + 1);
  assert.equal((await service.list(eve)).installations[0]?.status, 'inactive');
  await service.heartbeat(eve, undefined);
  assert.equal((await service.list(eve)).installations[0]?.status, 'active');
  const unknown = await send(backend, '/api/heartbeat', { userId: 'nobody-knows' });
  assert.deepEqual([unknown.statusCode, unknown.json().success], [200, true]);
  assert.equal((await list(backend, { 'x-user-id': 'nobody-knows' })).count, 0);
});

test('an owner is told once that an installation went silent, and again after it had come back', async () => {
  const { db, clock } = backend.deps;
  await testUser(db, 'frank');
  let now = clock();
  const service = createInstallations({
    db,
    clock: () => now,
    cipher: createCipher('x', 'y'),
    dashboardUrl: '',
    open: true,
  });
  const frank = { id: 'frank', email: null, role: null, verified: true, byKey: false };
  const told = async () =>
    (await db.system.selectFrom('notices').select('id').where('user_id', '=', 'frank').execute()).length;
  await service.register(frank, 'frank', 'home', undefined);
  await service.tellQuiet();
  assert.equal(await told(), 0);
  now = new Date(now.getTime() + 6 * 60_000);
  await service.tellQuiet();
  await service.tellQuiet();
  assert.equal(await told(), 1);
  await service.heartbeat(frank, undefined);
  await db.system.updateTable('notices').set({ read_at: now }).where('user_id', '=', 'frank').execute();
  now = new Date(now.getTime() + 6 * 60_000);
  await service.tellQuiet();
  assert.equal(await told(), 2);
});

test('the scripts are plain text and know the backend', async () => {
  for (const path of ['/install', '/link']) {
    const answer = await backend.server.app.inject(path);
    assert.match(String(answer.headers['content-type']), /^text\/plain/);
    assert.match(answer.body, /^#!\/bin\/sh\n/);
    assert.match(answer.body, new RegExp(backend.deps.url));
    assert.doesNotMatch(answer.body, /@BACKEND_URL@/);
  }
});
