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

test('memory is the one that the agent itself reads and writes', async () => {
  await ann.ask('POST', '/api/chat', { message: 'remember the sky is green' });
  const memory = await ann.ask('GET', `/api/memory?agentId=${id}`);
  assert.ok(Object.values(memory.body.memory).some((value) => String(value).includes('green')));
  assert.deepEqual((await ann.ask('POST', '/api/memory', { agentId: id, key: 'pet', memory: 'a fox' })).body, {
    success: true,
    agentId: id,
    key: 'pet',
    saved: true,
  });
  const many = await ann.ask('POST', '/api/memory', { agentId: id, memory: { a: 'x', b: { c: 1 } } });
  assert.deepEqual(many.body.keysUpdated, ['a', 'b']);
  assert.equal((await ann.ask('GET', `/api/memory?agentId=${id}`)).body.memory.pet, 'a fox');
  const keys = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v']));
  for (const [body, error] of [
    [{ key: 'k', memory: 'v' }, 'agentId required'],
    [{ agentId: id, key: 'k', memory: 'x'.repeat(102_401) }, 'Memory value too large (max 100KB)'],
    [{ agentId: id, memory: keys }, 'Too many memory keys (max 50)'],
  ] as const)
    assert.deepEqual(await ann.ask('POST', '/api/memory', body), { status: 400, body: { error } });
  assert.equal((await ann.ask('GET', '/api/memory')).body.error, 'agentId required');
});

test('what was kept without a key goes by its id, is named so, changed and forgotten by it', async () => {
  const read = async () => (await ann.ask('GET', `/api/memory?agentId=${id}`)).body;
  const { memory, unnamed } = await read();
  const [key] = unnamed;
  assert.equal(unnamed.length, 1);
  assert.match(String(memory[key]), /green/);
  assert.equal((await ann.ask('POST', '/api/memory', { agentId: id, key, memory: 'the sky is blue' })).status, 200);
  const after = await read();
  assert.deepEqual([after.unnamed, after.memory[key]], [[key], 'the sky is blue']);
  assert.equal(after.count, Object.keys(memory).length);
  assert.equal((await ann.ask('DELETE', '/api/memory', { agentId: id, key })).status, 200);
  assert.deepEqual((await read()).unnamed, []);
});

test('another user’s memory is neither read nor written', async () => {
  const before = (await ann.ask('GET', `/api/memory?agentId=${id}`)).body;
  assert.equal((await ben.ask('GET', `/api/memory?agentId=${id}`)).status, 404);
  assert.equal((await ben.ask('POST', '/api/memory', { agentId: id, key: 'pet', memory: 'a wolf' })).status, 404);
  assert.deepEqual((await ann.ask('GET', `/api/memory?agentId=${id}`)).body, before);
});
