import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStandIn, replyChat } from '@troupe/ai';
import { person } from '@troupe/testing/services/people';
import { startServices } from '@troupe/testing/services/services';

test('an agent made with the default model thinks with what the installation has', async () => {
  const openai = await createStandIn();
  const services = await startServices({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: openai.url });
  try {
    for (const [plan, model] of [
      ['network', 'gpt-4o-mini'],
      ['solo', 'gpt-4o-mini'],
    ] as const) {
      const ada = await person(services, { plan });
      const { body: made } = await ada.ask('POST', '/api/agents/provision', { name: 'Ada' });
      const { status, body } = await ada.ask('POST', '/api/chat', { message: 'Hello', agentId: made.agent.id });
      assert.deepEqual([status, body.reply], [200, 'Hello from the provider.'], JSON.stringify(body));
      assert.equal(openai.requests.at(-1)?.body['model'], model);
    }
  } finally {
    await services.stop();
    await openai.close();
  }
});

test('what can be chosen for an agent is what the plan allows and a provider is set up for', async () => {
  const openai = await createStandIn();
  const ollama = await createStandIn((_request, response) => void response.end('{"data":[{"id":"llama3.2"}]}'));
  const services = await startServices({
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: openai.url,
    OLLAMA_BASE_URL: ollama.url,
  });
  try {
    const choice = async (plan: 'solo' | 'network') =>
      (await (await person(services, { plan })).ask('GET', '/api/models')).body;
    const ids = ({ models }: { models: { id: string }[] }) => models.map(({ id }) => id);
    const solo = await choice('solo');
    assert.deepEqual(ids(solo), ['openai/gpt-4o-mini']);
    assert.deepEqual([solo.default, solo.sandboxOnly], ['openai/gpt-4o-mini', false]);
    assert.equal(solo.models[0].name, 'GPT-4o mini');
    const network = await choice('network');
    for (const id of ['openai/gpt-4o', 'ollama/llama3.2']) assert.ok(ids(network).includes(id), id);
    assert.ok(!ids(network).some((id) => id.startsWith('anthropic/')));
  } finally {
    await services.stop();
    await Promise.all([openai.close(), ollama.close()]);
  }
});

test('without a provider every model of the plan can be chosen, and the reply says whether the sandbox answers', async () => {
  for (const AI_SANDBOX of ['on', 'off']) {
    const services = await startServices({ AI_SANDBOX });
    try {
      const ada = await person(services, { plan: 'solo' });
      const { status, body } = await ada.ask('GET', '/api/models');
      assert.deepEqual([status, body.sandboxOnly], [200, AI_SANDBOX === 'on']);
      const ids: string[] = body.models.map(({ id }: { id: string }) => id);
      assert.equal(ids.includes('sandbox/echo'), AI_SANDBOX === 'on');
      assert.ok(ids.includes(body.default) && body.default !== 'sandbox/echo', String(ids));
    } finally {
      await services.stop();
    }
  }
});

test('a model that does not exist is refused with the nearest, and the one that answers is shown', async () => {
  const openai = await createStandIn((request, response) => {
    const isList = request.path.endsWith('/models');
    if (isList) return void response.end('{"data":[{"id":"gpt-4o-mini"},{"id":"gpt-4o"}]}');
    return replyChat(request, response);
  });
  const services = await startServices({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: openai.url });
  try {
    const ada = await person(services, { plan: 'network' });
    const make = (body: object) => ada.ask('POST', '/api/agents/provision', { name: 'Ada', ...body });
    const wrong = await make({ model: 'openai/gpt-4o-minni' });
    assert.equal(wrong.status, 400);
    assert.match(wrong.body.error, /^There is no model openai\/gpt-4o-minni\. Did you mean openai\/gpt-4o-mini or /);
    assert.equal(wrong.body.models[0], 'openai/gpt-4o-mini');
    // Nobody serves the premium model here: what is shown is what answers.
    const { body: made } = await make({});
    const { agent } = (await ada.ask('GET', `/api/agents/${made.agent.id}`)).body;
    assert.equal(agent.model, 'claude-opus-4-6');
    await ada.ask('POST', '/api/chat', { message: 'Hello', agentId: agent.id });
    assert.equal(`openai/${openai.requests.at(-1)?.body['model']}`, agent.answers);
    // The same for a change of the configuration, fallbacks included; what was there stays.
    const put = (model: object) => ada.ask('PUT', `/api/agents/${agent.id}/config`, { model });
    assert.equal((await put({ default: 'gpt-9-turbo-x' })).status, 400);
    assert.equal((await put({ fallbacks: ['nobody/has-this'] })).status, 400);
    assert.equal((await put({ default: 'openai/gpt-4o' })).status, 200);
    const after = (await ada.ask('GET', `/api/agents/${agent.id}`)).body.agent;
    assert.deepEqual([after.model, after.answers], ['openai/gpt-4o', 'openai/gpt-4o']);
    // With a key of one's own the provider knows best.
    const own = await make({ model: 'brand-new-model', config: { aiProvider: 'openai', apiKey: 'sk-own-key-123456' } });
    assert.equal(own.status, 201, JSON.stringify(own.body));
  } finally {
    await services.stop();
    await openai.close();
  }
});
