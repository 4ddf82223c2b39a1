import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createStandIn, replyChat, replyJson, type StandIn } from '@troupe/ai';
import { send } from '@troupe/testing/services/people';
import { addUser, startServices, type Services, type TestUser } from '@troupe/testing/services/services';

/** Providers that an administrator adds, tries, uses and removes while the platform runs. */

let services: Services;
let named: StandIn;
let added: StandIn;
let admin: TestUser;
let ada: TestUser;

const ask = (method: string, path: string, body?: unknown, who = admin) =>
  send(services.web + path, method, body, { authorization: `Bearer ${who.key}` });

before(async () => {
  named = await createStandIn();
  added = await createStandIn((request, response) => {
    if (request.headers.authorization !== 'Bearer right') return replyJson(response, { error: 'no' }, 401);
    replyChat(request, response, { content: 'From the added one.' });
  });
  services = await startServices({ OPENROUTER_API_KEY: 'k', OPENROUTER_BASE_URL: named.url });
  admin = await addUser(services.runtime, { plan: 'network', isAdmin: true });
  ada = await addUser(services.runtime, { plan: 'network' });
});
after(async () => {
  await services.stop();
  await Promise.all([named, added].map((one) => one.close()));
});

const given = (apiKey = 'right') => ({ kind: 'compatible', name: 'mine', baseUrl: added.url, apiKey });

test('a try tells what is wrong before anybody relies on it', async () => {
  const tried = async (body: object) => (await ask('POST', '/api/admin/providers/test', body)).body;
  assert.match(
    (await tried(given())).message,
    /^It works\. 1 model\. listed-model answered in 0\.\d s for \$0\.\d{2,5}[1-9]\.$/,
  );
  assert.deepEqual(await tried(given('wrong')), {
    ok: false,
    message: 'The key was refused (401).',
    models: 0,
    model: null,
    ms: null,
  });
  const away = await tried({ ...given(), baseUrl: 'http://127.0.0.1:1' });
  assert.equal(away.ok, false);
  assert.match(away.message, /^Nothing answers at this address/);
});

test('one that is added is used at once, kept sealed, switched off and removed', async () => {
  const made = await ask('POST', '/api/admin/providers', given());
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body.provider;
  assert.equal(JSON.stringify(made.body).includes('right'), false);
  const { key_sealed: sealed } = await services.runtime.db.system
    .selectFrom('ai_providers')
    .select('key_sealed')
    .executeTakeFirstOrThrow();
  assert.equal(sealed?.includes('right'), false);
  const { providers } = (await ask('GET', '/api/admin/providers')).body;
  assert.deepEqual(
    providers.map(({ id: own, name, hasKey }: Record<string, unknown>) => [own, name, hasKey]),
    [
      [null, 'openrouter', true],
      [id, 'mine', true],
    ],
  );

  const isListed = async () =>
    (await ask('GET', '/api/models', undefined, ada)).body.models.some(
      ({ id: model }: { id: string }) => model === 'mine/listed-model',
    );
  while (!(await isListed())) await delay(50);
  const agent = await ask('POST', '/api/agents/provision', { name: 'A', model: 'mine/listed-model' }, ada);
  const chat = () => ask('POST', '/api/chat', { agentId: agent.body.agent.id, message: 'Hello' }, ada);
  assert.equal((await chat()).body.reply, 'From the added one.');
  assert.equal(added.requests.at(-1)?.body['model'], 'listed-model');

  assert.equal((await ask('PATCH', `/api/admin/providers/${id}`, { enabled: false })).body.provider.enabled, false);
  while (await isListed()) await delay(50);
  assert.equal((await chat()).body.reply, 'Hello from the provider.');
  await ask('PATCH', `/api/admin/providers/${id}`, { enabled: true });
  assert.match((await ask('POST', '/api/admin/providers/test', { id })).body.message, /^It works/);
  assert.equal((await ask('DELETE', `/api/admin/providers/${id}`)).status, 200);
  while (await isListed()) await delay(50);
  assert.equal((await ask('DELETE', `/api/admin/providers/${id}`)).status, 404);
});

test('names that are taken, half of what is needed, and people who are no administrators are refused', async () => {
  const refused = async (body: object) => {
    const { status, body: answer } = await ask('POST', '/api/admin/providers', body);
    return [status, answer.error];
  };
  assert.deepEqual(await refused({ kind: 'openrouter', apiKey: 'x' }), [409, 'There is a provider openrouter already']);
  assert.deepEqual(await refused({ ...given(), name: 'google' }), [409, 'There is a provider google already']);
  assert.deepEqual(await refused({ kind: 'anthropic' }), [400, 'Key required']);
  assert.deepEqual(await refused({ kind: 'ollama' }), [400, 'Address required']);
  assert.deepEqual(await refused({ ...given(), baseUrl: 'file:///etc/passwd' }), [
    400,
    'Address must be an http or https address',
  ]);
  assert.equal((await refused({ ...given(), name: 'Not A Name' }))[0], 400);
  for (const [method, path] of [
    ['GET', '/api/admin/providers'],
    ['POST', '/api/admin/providers'],
    ['POST', '/api/admin/providers/test'],
  ] as const)
    assert.equal((await ask(method, path, method === 'GET' ? undefined : given(), ada)).status, 403);
});

test('of a cloud it is said what it has, and several can be there under names of their own', async () => {
  const azure = await createStandIn((request, response) => {
    if (request.headers['api-key'] !== 'right') return replyJson(response, { error: 'no' }, 401);
    replyChat(request, response, { content: 'From the cloud.' });
  });
  const cloud = {
    kind: 'azure',
    name: 'azure-west',
    baseUrl: azure.url,
    apiKey: 'right',
    models: ['my-gpt', 'my-gpt'],
  };
  const tried = await ask('POST', '/api/admin/providers/test', cloud);
  assert.match(tried.body.message, /my-gpt answered/);
  const made = await ask('POST', '/api/admin/providers', cloud);
  assert.deepEqual([made.status, made.body.provider.models], [201, ['my-gpt']]);
  const isListed = async () =>
    (await ask('GET', '/api/models', undefined, ada)).body.models.some(
      ({ id: model }: { id: string }) => model === 'azure-west/my-gpt',
    );
  while (!(await isListed())) await delay(50);
  const agent = await ask('POST', '/api/agents/provision', { name: 'C', model: 'azure-west/my-gpt' }, ada);
  const said = await ask('POST', '/api/chat', { agentId: agent.body.agent.id, message: 'Hello' }, ada);
  assert.equal(said.body.reply, 'From the cloud.');
  assert.equal(azure.requests.at(-1)?.body['model'], 'my-gpt');

  const { id } = made.body.provider;
  const changed = await ask('PATCH', `/api/admin/providers/${id}`, { models: [] });
  assert.equal(changed.body.provider.models, null);
  await ask('DELETE', `/api/admin/providers/${id}`);
  await azure.close();
});

test('what a cloud needs is asked for, and a key that cannot be one is told', async () => {
  const base = { kind: 'bedrock', baseUrl: added.url, apiKey: 'k' };
  assert.equal((await ask('POST', '/api/admin/providers', base)).body.error, 'Models required: it does not list them');
  const { baseUrl: _, ...nowhere } = base;
  assert.equal(
    (await ask('POST', '/api/admin/providers', { ...nowhere, models: ['m'] })).body.error,
    'Address required',
  );
  const vertex = { kind: 'vertex', baseUrl: added.url, apiKey: 'plain', models: ['google/m'] };
  assert.deepEqual((await ask('POST', '/api/admin/providers/test', vertex)).body, {
    ok: false,
    message: 'It cannot be used: the key must be the JSON file of a service account.',
    models: 0,
    model: null,
    ms: null,
  });
  const made = await ask('POST', '/api/admin/providers', { ...base, models: ['vendor.m-v1:0'] });
  const { id } = made.body.provider;
  const empty = await ask('PATCH', `/api/admin/providers/${id}`, { models: [] });
  assert.deepEqual([empty.status, empty.body.error], [400, 'Models required: it does not list them']);
  const kept = (await ask('GET', '/api/admin/providers')).body.providers.find((one: { id: string }) => one.id === id);
  assert.deepEqual(kept.models, ['vendor.m-v1:0'], 'a refused change changes nothing');
  await ask('DELETE', `/api/admin/providers/${id}`);
});
