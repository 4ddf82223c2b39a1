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

test('instances: by the own id, or by the agent', async () => {
  const read = await ann.ask('GET', `/api/instance/${ann.id}`);
  assert.deepEqual([read.body.status, read.body.agentId], ['running', id]);
  assert.equal((await ann.ask('GET', `/api/instance/${id}/stats`)).body.userId, ann.id);
  for (const [action, status] of [
    ['stop', 'stopped'],
    ['stop', 'stopped'],
    ['start', 'running'],
    ['restart', 'running'],
    ['update', 'running'],
    ['repair', 'running'],
    ['reset-memory', 'running'],
  ] as const) {
    const done = await ann.ask('POST', `/api/instance/${ann.id}/${action}`, {});
    assert.deepEqual([done.status, done.body.success, done.body.status], [200, true, status], action);
  }
  assert.equal((await ann.ask('POST', `/api/instance/${ann.id}/explode`, {})).status, 400);
  const nobody = await person(services, { plan: 'solo' });
  assert.deepEqual((await nobody.ask('GET', `/api/instance/${nobody.id}`)).body, {
    error: 'No instance found. Please deploy first.',
  });
});

test('another user’s instance is neither read nor stopped', async () => {
  assert.equal((await ben.ask('GET', `/api/instance/${ann.id}`)).status, 403);
  assert.equal((await ben.ask('POST', `/api/instance/${id}/stop`)).status, 404);
  assert.equal((await ann.ask('GET', `/api/instance/${ann.id}`)).body.status, 'running');
});
