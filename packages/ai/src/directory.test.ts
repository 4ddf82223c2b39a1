import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { silentLog, type Env } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createAi, type Ai } from './ai.ts';
import { providersFrom } from './setup.ts';
import { createStandIn, replyChat } from './stand-in.ts';

const upstream = await createStandIn();
const second = await createStandIn();
const opened: Ai[] = [];

function makeAi(env: Env = {}): Ai {
  const settings = testSettings({ OPENROUTER_API_KEY: 'sk-or', OPENROUTER_BASE_URL: upstream.url, ...env });
  const ai = createAi({ providers: providersFrom(settings), catalogue: BUILT_IN_CATALOGUE, log: silentLog });
  opened.push(ai);
  return ai;
}

beforeEach(() => {
  for (const one of [upstream, second]) {
    one.answer((request, response) => replyChat(request, response));
    one.requests.length = 0;
  }
});

after(async () => {
  await Promise.all(opened.map((ai) => ai.close()));
  await Promise.all([upstream.close(), second.close()]);
});

test('lists the catalogue and what the provider adds', async () => {
  const models = await makeAi({ GROQ_API_KEY: 'gsk_x', GROQ_BASE_URL: second.url }).models();
  const mini = models.find((model) => model.id === 'openai/gpt-4o-mini');
  assert.deepEqual([mini?.provider, mini?.inputCost, mini?.available], ['openrouter', 0.15, true]);
  assert.equal(models.find((model) => model.id === 'groq/listed-model')?.provider, 'groq');
  assert.equal(
    models.some((model) => model.id === 'sandbox/echo'),
    false,
  );
});

test('lists for a provider all that it serves, also what another one serves first', async () => {
  const ai = makeAi({ OPENAI_API_KEY: 'sk-x', OPENAI_BASE_URL: second.url });
  for (const provider of ['openai', 'openrouter']) {
    const models = await ai.models(provider);
    const gpt4 = models.find((model) => model.id === 'gpt-4');
    assert.deepEqual([gpt4?.provider, gpt4?.available], [provider, true]);
    assert.ok(models.every((model) => model.provider === provider));
  }
  assert.ok((await ai.models('openai')).some((model) => model.id === 'openai/listed-model'));
  assert.ok((await ai.models('anthropic')).every((model) => !model.available));
  assert.deepEqual(await ai.models('nobody'), []);
});

test('asks each provider once, and again only behind the answer', async () => {
  const ai = makeAi();
  await Promise.all([ai.models(), ai.models(), ai.health()]);
  await ai.models();
  assert.equal(upstream.requests.length, 1);
});

test('says who answers', async () => {
  assert.deepEqual(await makeAi().health(), { status: 'healthy', providers: { openrouter: true } });
  assert.deepEqual(await makeAi({ OPENROUTER_API_KEY: '', AI_SANDBOX: 'off' }).health(), {
    status: 'degraded',
    providers: { openrouter: false },
  });
  second.answer((_request, response) => void response.writeHead(500).end());
  const groq = { GROQ_API_KEY: 'gsk_x', GROQ_BASE_URL: second.url };
  assert.equal((await makeAi(groq).health()).status, 'degraded');
  upstream.answer((_request, response) => void response.writeHead(500).end());
  assert.equal((await makeAi(groq).health()).status, 'error');
});
