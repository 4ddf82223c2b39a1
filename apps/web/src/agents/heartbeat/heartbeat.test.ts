import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let ben: Person;
let id: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'label' });
  ben = await person(services, { plan: 'solo' });
  id = await provisioned(ann);
});
after(() => services.stop());

test('heartbeats are set, read and removed', async () => {
  assert.equal((await ann.ask('GET', `/api/heartbeat?agentId=${id}`)).body.heartbeat.enabled, false);
  const set = await ann.ask('POST', '/api/heartbeat', { agentId: id });
  assert.deepEqual([set.body.heartbeat.frequency, set.body.heartbeat.enabled], ['3h', true]);
  assert.ok(Date.parse(set.body.heartbeat.nextHeartbeat) > Date.now());
  for (const frequency of ['0h', '3w', 'x', 5])
    assert.equal((await ann.ask('POST', '/api/heartbeat', { agentId: id, frequency })).status, 400);
  assert.deepEqual((await ann.ask('DELETE', '/api/heartbeat', { agentId: id })).body, { success: true });
  assert.equal((await ann.ask('DELETE', '/api/heartbeat', {})).body.error, 'agentId required');
});

test('another user’s check-ins are neither read, set nor removed', async () => {
  await ann.ask('POST', '/api/heartbeat', { agentId: id, frequency: '5h' });
  for (const [method, path, body] of [
    ['GET', `/api/heartbeat?agentId=${id}`, undefined],
    ['POST', '/api/heartbeat', { agentId: id, frequency: '1h' }],
    ['DELETE', '/api/heartbeat', { agentId: id }],
  ] as const)
    assert.equal((await ben.ask(method, path, body)).status, 404, method);
  assert.equal((await ann.ask('GET', `/api/heartbeat?agentId=${id}`)).body.heartbeat.frequency, '5h');
});
