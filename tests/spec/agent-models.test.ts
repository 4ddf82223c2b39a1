import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStandIn } from '@troupe/ai';
import { person } from '../lib/people.ts';
import { startServices } from '../lib/services.ts';

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
    const choice = async (plan: string) => (await (await person(services, { plan })).ask('GET', '/api/models')).body;
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
