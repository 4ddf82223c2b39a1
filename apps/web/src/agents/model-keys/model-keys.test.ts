import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createStandIn, replyChat, replyJson, type StandIn } from '@troupe/ai';
import { person, provisioned, type Person } from '@troupe/testing/services/people';
import { startServices, type Services } from '@troupe/testing/services/services';

/** A person's own keys at providers: given, tried, shared, replaced and taken away, for several agents at once. */

const KEY = 'sk-own-key-number-one';
const OTHER = 'sk-own-key-number-two';

let services: Services;
let platform: StandIn;
let openai: StandIn;
let ada: Person;

before(async () => {
  platform = await createStandIn((request, response) => replyChat(request, response, { content: 'platform' }));
  openai = await createStandIn((request, response) => {
    const { authorization = '' } = request.headers;
    if (!authorization.startsWith('Bearer sk-own')) return replyJson(response, { error: 'no' }, 401);
    replyChat(request, response, { content: authorization.slice('Bearer '.length) });
  });
  services = await startServices({
    OPENROUTER_API_KEY: 'platform-key',
    OPENROUTER_BASE_URL: platform.url,
    OPENAI_BASE_URL: openai.url,
  });
});
beforeEach(async () => {
  ada = await person(services, { plan: 'label' });
});
after(async () => {
  await services.stop();
  await Promise.all([platform, openai].map((one) => one.close()));
});

const says = async (agentId: string) => (await ada.ask('POST', '/api/chat', { message: 'Hello', agentId })).body.reply;
const give = (agentIds: string[], apiKey = KEY, who = ada) =>
  who.ask('PUT', '/api/model-keys', { provider: 'openai', apiKey, agentIds });
const listed = async () => (await ada.ask('GET', '/api/model-keys')).body.keys;

test('agents that are awake think on it from their next call on, and on the platform’s when it is taken away', async () => {
  const [one, two] = [await provisioned(ada), await provisioned(ada)];
  assert.equal(await says(one), 'platform');
  const given = await give([one, two, one]);
  assert.equal(given.status, 200, JSON.stringify(given.body));
  assert.deepEqual(
    [given.body.key.provider, given.body.key.ending, given.body.key.agents.length],
    ['openai', '-one', 2],
  );
  assert.deepEqual([await says(one), await says(two)], [KEY, KEY]);

  assert.equal((await give([one, two], OTHER)).status, 200);
  assert.deepEqual([await says(one), await says(two)], [OTHER, OTHER]);
  assert.deepEqual((await listed()).length, 1);

  assert.equal((await ada.ask('POST', '/api/model-keys/take', { agentIds: [two] })).status, 200);
  assert.deepEqual([await says(one), await says(two)], [OTHER, 'platform']);
  const shared = await ada.ask('POST', '/api/model-keys/share', { agentId: one, agentIds: [two] });
  assert.equal(shared.body.key.ending, '-two');
  assert.equal(await says(two), OTHER);
  assert.equal(JSON.stringify(await listed()).includes(OTHER), false);

  const { entries } = (await ada.ask('GET', '/api/audit')).body;
  const actions = entries.map(({ action }: { action: string }) => action);
  assert.equal(actions.filter((action: string) => action === 'model-key-given').length, 3);
  assert.equal(actions.filter((action: string) => action === 'model-key-taken').length, 1);
});

test('all of the agents or none: one that is somebody else’s is not found, and nothing has changed', async () => {
  const bob = await person(services, { plan: 'label' });
  const [mine, his] = [await provisioned(ada), await provisioned(bob)];
  const refused = { status: 404, body: { error: 'Agent not found' } };
  assert.deepEqual(await give([mine, his]), refused);
  assert.deepEqual(await listed(), []);
  await give([his], KEY, bob);
  assert.deepEqual(await ada.ask('POST', '/api/model-keys/share', { agentId: his, agentIds: [mine] }), refused);
  assert.deepEqual(await ada.ask('POST', '/api/model-keys/take', { agentIds: [his] }), refused);
  assert.deepEqual(await ada.ask('POST', '/api/model-keys/test', { agentId: his }), refused);
  const none = await ada.ask('POST', '/api/model-keys/test', { agentId: mine });
  assert.deepEqual([none.status, none.body.error], [404, 'This agent has no key of yours']);
});

test('a key is tried before it is given and after', async () => {
  const agentId = await provisioned(ada);
  const tried = async (body: object) => (await ada.ask('POST', '/api/model-keys/test', body)).body;
  assert.equal(
    (await tried({ provider: 'openai', apiKey: 'wrong' })).message,
    'The key was refused (401). Keys of openai begin with sk-.',
  );
  assert.equal((await tried({ provider: 'openai', apiKey: KEY })).ok, true);
  await give([agentId]);
  assert.match((await tried({ agentId })).message, /^It works\./);
});

test('what cannot be is said', async () => {
  const put = async (body: object) => (await ada.ask('PUT', '/api/model-keys', body)).body.error;
  const whole = { provider: 'openai', apiKey: KEY, agentIds: ['x'] };
  assert.match(await put({ ...whole, provider: 'ollama' }), /^Provider must be one of openrouter, /);
  assert.equal(await put({ ...whole, apiKey: ' ' }), 'Key required');
  assert.equal(await put({ ...whole, agentIds: [] }), 'Name the agents that it is for');
  const many = Array.from({ length: 1001 }, (_, n) => `${n}`);
  assert.equal(await put({ ...whole, agentIds: many }), 'At most 1000 agents at once');
});
