import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { credentialEnded } from '@troupe/contract';
import { notify } from '@troupe/db';
import { sha256Hex } from '@troupe/kernel';
import { sql } from 'kysely';
import { signedIn, testWeb, type Person, type TestWeb } from '../../testing.ts';

let web: TestWeb;
let ada: Person;
let bob: Person;
before(async () => {
  web = await testWeb();
  ada = await signedIn(web);
  bob = await signedIn(web);
  await sql`insert into agents (id, user_id, name, token_hash) values ('agent-a', ${ada.id}, 'Ada’s agent', ${sha256Hex('gateway-token')})`.execute(
    web.deps.db.system,
  );
});
after(() => web.stop());

const post = (url: string, payload: object, headers: Record<string, string>) =>
  web.server.app.inject({ method: 'POST', url, payload, headers });
const pair = async (name = 'Phone') =>
  (await post('/api/devices/pair', { name }, { authorization: 'Bearer gateway-token' })).json() as {
    deviceId: string;
    deviceSecret: string;
  };
const act = (who: Person, deviceId: unknown, action: unknown) =>
  post('/api/devices', { deviceId, action }, who.headers);
const state = async (deviceId: string, secret: string) =>
  (
    await web.server.app.inject({
      url: `/api/devices/pair/${deviceId}`,
      headers: { authorization: `Bearer ${secret}` },
    })
  ).json();

test('a device asks, waits, is approved, has a token, and is revoked', async () => {
  const { deviceId, deviceSecret } = await pair();
  assert.deepEqual(await state(deviceId, deviceSecret), { status: 'pending' });
  const list = (await web.server.app.inject({ url: '/api/devices', headers: ada.headers })).json();
  assert.deepEqual(
    list.pending.map(({ id, name, agentId, status }: Record<string, string>) => [id, name, agentId, status]),
    [[deviceId, 'Phone', 'agent-a', 'pending']],
  );
  const approved = (await act(ada, deviceId, 'approve')).json();
  assert.deepEqual(
    [approved.success, approved.device.status, approved.pending.length, approved.approved.length],
    [true, 'approved', 0, 1],
  );
  const { status, token } = await state(deviceId, deviceSecret);
  assert.equal(status, 'approved');
  assert.match(token, /^[0-9a-f]{64}$/);
  assert.equal((await act(ada, deviceId, 'revoke')).json().device.status, 'revoked');
  assert.deepEqual(await state(deviceId, deviceSecret), { status: 'revoked' });
});

test('every other pair of state and action is refused', async () => {
  const make = async (...actions: string[]) => {
    const { deviceId } = await pair();
    for (const action of actions) await act(ada, deviceId, action);
    return deviceId;
  };
  const cases: [string[], string, string][] = [
    [[], 'revoke', 'Device is not approved'],
    [['approve'], 'approve', 'Device is not pending'],
    [['approve'], 'deny', 'Device is not pending'],
    [['deny'], 'approve', 'Device is not pending'],
    [['deny'], 'deny', 'Device is not pending'],
    [['deny'], 'revoke', 'Device is not approved'],
    [['approve', 'revoke'], 'approve', 'Device is not pending'],
    [['approve', 'revoke'], 'deny', 'Device is not pending'],
    [['approve', 'revoke'], 'revoke', 'Device is not approved'],
  ];
  for (const [before, action, error] of cases) {
    const answer = await act(ada, await make(...before), action);
    assert.deepEqual([answer.statusCode, answer.json()], [400, { error }], `${before.join()} then ${action}`);
  }
});

test('bad requests are told', async () => {
  const { deviceId } = await pair();
  const missing = 'Missing required fields: deviceId, action';
  for (const [id, action, status, error] of [
    [undefined, 'approve', 400, missing],
    [deviceId, undefined, 400, missing],
    [deviceId, 'explode', 400, 'Invalid action. Must be: approve, deny, or revoke'],
    ['unknown', 'approve', 404, 'Device not found'],
  ] as const) {
    const answer = await act(ada, id, action);
    assert.deepEqual([answer.statusCode, answer.json()], [status, { error }]);
  }
  const broken = await web.server.app.inject({
    method: 'POST',
    url: '/api/devices',
    headers: { ...ada.headers, 'content-type': 'application/json' },
    payload: '{',
  });
  assert.deepEqual([broken.statusCode, broken.json()], [400, { error: 'Invalid request body' }]);
});

test('another user’s device does not exist', async () => {
  const { deviceId } = await pair();
  assert.equal((await act(bob, deviceId, 'approve')).statusCode, 404);
  const list = (await web.server.app.inject({ url: '/api/devices', headers: bob.headers })).json();
  assert.deepEqual(list, { pending: [], approved: [] });
});

test('pairing needs the agent’s token, and its state the device’s secret', async () => {
  for (const headers of [{}, { authorization: 'Bearer wrong' }] as Record<string, string>[])
    assert.equal((await post('/api/devices/pair', { name: 'x' }, headers)).statusCode, 401);
  const { deviceId } = await pair();
  assert.deepEqual(await state(deviceId, 'wrong'), { error: 'Invalid device secret' });
});

test('of two approvals at once one wins', async () => {
  const { deviceId } = await pair();
  const answers = await Promise.all([1, 2, 3, 4].map(() => act(ada, deviceId, 'approve')));
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode).filter((status) => status === 200),
    [200],
  );
});

test('a revocation is told to all processes', async () => {
  const told = Promise.withResolvers<string>();
  const ready = Promise.withResolvers<void>();
  web.deps.listener.on(credentialEnded, (id) => {
    if (id === 'probe') ready.resolve();
    else told.resolve(id);
  });
  const { deviceId } = await pair();
  await act(ada, deviceId, 'approve');
  // Listening begins a moment after `on`: one that arrives shows that it has.
  const timer = setInterval(() => void notify(web.deps.db.system, credentialEnded, 'probe'), 50);
  await ready.promise;
  clearInterval(timer);
  await act(ada, deviceId, 'revoke');
  assert.equal(await told.promise, `device:${deviceId}`);
});

test('the owner is told that a device waits', async () => {
  const { deviceId } = await pair('Tablet');
  const { notices } = (await web.server.app.inject({ url: '/api/notices', headers: ada.headers })).json();
  assert.ok(deviceId);
  assert.equal(notices[0].kind, 'device_waiting');
  assert.match(notices[0].message, /Tablet asks to be paired with Ada’s agent/);
  await act(ada, deviceId, 'approve');
  const after = (await web.server.app.inject({ url: '/api/notices', headers: ada.headers })).json();
  assert.ok(after.notices[0].readAt, 'what is decided needs nobody’s attention any more');
});
