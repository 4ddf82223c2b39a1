import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { elsewhere, send } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** What an agent has kept, while it is switched off. */

let services: Services;
let ada: TestUser;
let bob: TestUser;
let agentId: string;

const ask = (method: string, path: string, body?: unknown) =>
  send(services.web + path, method, body, { authorization: `Bearer ${ada.key}` });
const inAgent = (method: string, path: string, body?: unknown) => ask(method, `/api/agents/${agentId}${path}`, body);

/** Says it, and answers the conversation once that is over. */
async function say(message: string, topic: string): Promise<string> {
  const { status, body } = await ask('POST', '/api/chat', { message, agentId, topic });
  assert.equal(status, 200, JSON.stringify(body));
  return (await inAgent('GET', '/sessions?latest=true')).body.sessions[0].id;
}

before(async () => {
  services = await startServices();
  ada = await addUser(services.runtime, { plan: 'label' });
  bob = await addUser(services.runtime, { plan: 'label' });
  const made = await ask('POST', '/api/agents/provision', { name: 'Ada', config: { tools: ['filesystem'] } });
  agentId = made.body.agent.id;
});
after(() => services.stop());

test('all of it is read while the agent is switched off, nothing is changed, and its owner alone reads it', async () => {
  const root = await say('write off.md: the sea is deep', 'switched off');
  const act = async (action: string) =>
    assert.equal((await ask('POST', `/api/instance/${agentId}/${action}`, {})).status, 200);
  await act('stop');
  const { agent } = (await ask('GET', `/api/agents/${agentId}`)).body;
  assert.deepEqual([agent.status, agent.outside], ['stopped', false]);
  const { events } = (await inAgent('GET', `/sessions/${root}`)).body;
  assert.equal(events[0].content, 'write off.md: the sea is deep');
  const reads = [
    '/sessions?latest=true',
    `/sessions/${root}/branches`,
    '/search?q=off.md',
    `/sessions/${root}/files`,
    `/sessions/${root}/export?format=json`,
    '/shares',
    '/files',
    '/files/content?path=off.md',
    '/messages',
    '/logs',
    '/background',
  ];
  const asked = async (path: string, who: TestUser) =>
    fetch(`${services.web}/api/agents/${agentId}${path}`, {
      headers: { authorization: `Bearer ${who.key}`, 'x-client-ip': elsewhere() },
    });
  for (const path of reads) {
    const answer = await asked(path, ada);
    assert.equal(answer.status, 200, `${path}: ${await answer.text()}`);
    assert.equal((await asked(path, bob)).status, 404, path);
  }
  assert.equal((await inAgent('POST', `/sessions/${root}/share`)).status, 201);
  const writes: [string, string, unknown?][] = [
    ['POST', '/messages', { message: 'hello', sessionId: root }],
    ['POST', `/sessions/${root}/branches`, { at: 0, message: 'again' }],
    ['PATCH', `/sessions/${root}`, { title: 'Off' }],
    ['DELETE', `/sessions/${root}`],
  ];
  for (const [method, path, body] of writes) {
    const refused = await inAgent(method, path, body);
    assert.deepEqual([refused.status, refused.body.error], [502, 'Agent is not running'], `${method} ${path}`);
  }
  // Its own doors are closed meanwhile.
  const { token } = (await ask('GET', `/api/agents/${agentId}/token`)).body;
  const door = `${services.backend}/api/runtime/proxy/${agentId}/sessions`;
  const shut = await send(door, 'GET', undefined, { authorization: `Bearer ${token}` });
  assert.deepEqual([shut.status, shut.body.error], [502, 'Agent is not running']);
  await act('start');
  assert.equal(await say('hello again', 'switched off'), root);
});
