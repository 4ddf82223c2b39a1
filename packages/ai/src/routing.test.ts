import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { silentLog, type Env } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createAi, type Ai } from './ai.ts';
import { providersFrom } from './setup.ts';
import { createStandIn, replyChat, replyJson, type StandInHandler } from './stand-in.ts';

/** Which provider is asked for what. */

const MESSAGES = [{ role: 'user' as const, content: 'Hello' }];
const openrouter = await createStandIn();
const other = await createStandIn();
const opened: Ai[] = [];

function makeAi(env: Env): Ai {
  const settings = testSettings({ OPENROUTER_BASE_URL: openrouter.url, OPENAI_BASE_URL: other.url, ...env });
  const ai = createAi({ providers: providersFrom(settings), catalogue: BUILT_IN_CATALOGUE, log: silentLog });
  opened.push(ai);
  return ai;
}

const lists =
  (...ids: string[]): StandInHandler =>
  (request, response) =>
    request.path.endsWith('/models')
      ? replyJson(response, { data: ids.map((id) => ({ id })) })
      : replyChat(request, response);

const asked = ({ requests }: typeof other) => requests.flatMap(({ body }) => body['model'] ?? []);

beforeEach(() => {
  for (const one of [openrouter, other]) {
    one.requests.length = 0;
    one.answer(lists());
  }
});

after(async () => {
  await Promise.all(opened.map((ai) => ai.close()));
  await Promise.all([openrouter.close(), other.close()]);
});

describe('a call without a model', () => {
  it('gets one for its task, within the plan', async () => {
    const ai = makeAi({ OPENROUTER_API_KEY: 'k' });
    const provider = 'openrouter';
    assert.deepEqual(await ai.select('coding', 'network'), { id: 'anthropic/claude-sonnet-4.5', provider });
    assert.deepEqual(await ai.select('coding', 'solo'), { id: 'openai/gpt-4o-mini', provider });
    assert.deepEqual(await ai.select('no such task', 'solo'), { id: 'xiaomi/mimo-v2-pro', provider });
    await assert.rejects(makeAi({ ANTHROPIC_API_KEY: 'k' }).select('general', 'solo'), {
      status: 404,
      message: 'No models available',
    });
  });

  it('gets what Ollama has, where nothing else is there and the plan has all models', async () => {
    other.answer(lists('nomic-embed-text', 'llama3.2:latest', 'qwen3'));
    const ai = makeAi({ OLLAMA_BASE_URL: other.url });
    assert.deepEqual(await ai.select('general', 'network'), { id: 'ollama/llama3.2:latest', provider: 'ollama' });
    assert.equal((await ai.chat({ messages: MESSAGES })).model, 'ollama/llama3.2:latest');
    await assert.rejects(ai.select('general', 'solo'), { status: 404 });
    other.answer((request, response) =>
      request.body['model'] === 'qwen3' ? replyChat(request, response) : replyJson(response, {}, 500),
    );
    assert.equal((await ai.chat({ messages: MESSAGES })).model, 'ollama/qwen3');
  });

  it('gets what a provider has that an administrator has added, on every plan', async () => {
    other.answer(lists('llama3.2:latest'));
    const settings = testSettings({ OLLAMA_BASE_URL: other.url });
    const catalogue = { ...BUILT_IN_CATALOGUE, open: ['ollama'] };
    const ai = createAi({ providers: providersFrom(settings), catalogue, log: silentLog });
    opened.push(ai);
    assert.deepEqual(await ai.select('general', 'solo'), { id: 'ollama/llama3.2:latest', provider: 'ollama' });
    assert.equal(
      (await ai.chat({ messages: MESSAGES }, { scope: { userId: 'u', plan: 'solo' } })).model,
      'ollama/llama3.2:latest',
    );
  });
});

describe('every model that is listed can be asked for by its id', () => {
  it('the aggregator’s own ones too', async () => {
    openrouter.answer(lists('openrouter/auto', 'qwen/qwen3'));
    const ai = makeAi({ OPENROUTER_API_KEY: 'k' });
    const ids = new Set((await ai.models()).map(({ id }) => id));
    for (const model of ['openrouter/auto', 'qwen/qwen3', 'openrouter/qwen/qwen3'])
      await ai.chat({ model, messages: MESSAGES });
    assert.ok(ids.has('openrouter/auto') && ids.has('qwen/qwen3'));
    assert.deepEqual(asked(openrouter), ['openrouter/auto', 'qwen/qwen3', 'qwen/qwen3']);
  });

  it('those of a vendor that the aggregator takes for a fault of the request', async () => {
    openrouter.answer((_request, response) =>
      replyJson(response, { error: { message: 'openai/ft:mine is not a valid model ID', code: 400 } }, 400),
    );
    const ai = makeAi({ OPENROUTER_API_KEY: 'k', OPENAI_API_KEY: 'k' });
    const { provider, model } = await ai.chat({ model: 'openai/ft:mine', messages: MESSAGES });
    assert.deepEqual([provider, model, asked(other)], ['openai', 'openai/ft:mine', ['ft:mine']]);
    const stream = ai.stream({ model: 'openai/ft:mine', messages: MESSAGES });
    for await (const piece of stream) assert.equal(piece.provider, 'openai');
  });

  it('and a fault of the request is not tried with another model', async () => {
    for (const one of [openrouter, other])
      one.answer((_request, response) => replyJson(response, { error: { message: 'too long' } }, 400));
    const ai = makeAi({ OPENROUTER_API_KEY: 'k', OPENAI_API_KEY: 'k' });
    await assert.rejects(ai.chat({ model: 'openai/gpt-4o', messages: MESSAGES }), { status: 400 });
    assert.deepEqual([asked(openrouter), asked(other)], [['openai/gpt-4o'], ['gpt-4o']]);
  });
});
