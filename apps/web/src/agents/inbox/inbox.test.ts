import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { askBackend, person, provisioned, send, type Body, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

let services: Services;
let ann: Person;
let agentId: string;
before(async () => {
  services = await startServices();
  ann = await person(services, { plan: 'solo' });
  agentId = await provisioned(ann);
  const path = `/api/runtime/proxy/${agentId}/definition`;
  const { definition } = (await askBackend(services, 'GET', path)).body;
  const saved = await askBackend(services, 'PUT', path, { ...definition, approvals: { write_file: 'ask' } });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
});
after(() => services.stop());

const items = async (who: Person): Promise<Body[]> => (await who.ask('GET', '/api/inbox')).body.items;

test('shows what waits for its owner, and not what was decided', async () => {
  assert.deepEqual((await ann.ask('GET', '/api/inbox')).body, { items: [], payments: [], hasMore: false, marks: [] });
  const answer = ann.ask('POST', '/api/chat', { agentId, message: 'write plan.md: first draft' });
  // The call waits until somebody decides: there is nothing else that it could be waited for by.
  let found = await items(ann);
  for (; found.length === 0; found = await items(ann)) await delay(30);
  const [{ id, sessionId, args, at, ...rest }, ...others] = found;
  assert.match(sessionId, /./);
  assert.deepEqual([others, rest], [[], { kind: 'approval', agentId, agentName: 'Ada', tool: 'write_file' }]);
  assert.match(args, /first draft/);
  assert.ok(Date.parse(at) <= Date.now());
  const stranger = await person(services, { plan: 'solo' });
  assert.deepEqual(await items(stranger), []);
  const decided = await ann.ask('POST', `/api/agents/${agentId}/approvals/${id}`, { approved: false });
  assert.equal(decided.status, 200, JSON.stringify(decided.body));
  await answer;
  assert.deepEqual(await items(ann), []);
});

test('needs a session', async () => {
  assert.equal((await send(`${services.web}/api/inbox`, 'GET')).status, 401);
});
