import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { replyJson } from '@troupe/ai/stand-in';
import OpenAI from 'openai';
import { send } from '@troupe/testing/services/people';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** What an agent's endpoint says beside the words: errors, thoughts, counts and models, as the official clients read them. */

let world: World;
let url: string;
let openai: OpenAI;
let anthropic: Anthropic;
const MODEL = 'openai/gpt-4o-mini';
const messages = [{ role: 'user' as const, content: 'Hi' }];
before(async () => {
  world = await startWorld();
  const headers = { authorization: `Bearer ${world.user.key}` };
  const given = { name: 'Ada', model: MODEL };
  const made = await send(`${world.services.web}/api/agents/provision`, 'POST', given, headers);
  url = `${world.services.backend}/api/runtime/proxy/${made.body.agent.id}`;
  openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: world.user.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: url, apiKey: world.user.key, maxRetries: 0 });
});
beforeEach(() => reset(world));
after(() => world.stop());

const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 15 },
};

/** The model thinks first. */
function think({ body }: { body: Record<string, unknown> }, response: ServerResponse): void {
  if (body['stream'] !== true) {
    const message = { role: 'assistant', content: 'Hello.', reasoning: 'They greet me.' };
    return replyJson(response, { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: object, finish: string | null = null): void =>
    void response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  chunk({ reasoning: 'They greet ' });
  chunk({ reasoning: 'me.' });
  chunk({ content: 'Hello.' });
  chunk({}, 'stop');
  response.end(`data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`);
}

describe('what is thought and counted', () => {
  beforeEach(() => world.openrouter.answer(think));

  it('is told to clients of chat completions', async () => {
    const { choices, usage } = await openai.chat.completions.create({ model: 'ada', messages });
    assert.equal((choices[0]!.message as { reasoning_content?: string }).reasoning_content, 'They greet me.');
    assert.deepEqual(
      [usage?.prompt_tokens_details?.cached_tokens, usage?.completion_tokens_details?.reasoning_tokens],
      [60, 15],
    );
    const stream = await openai.chat.completions.create({ model: 'ada', messages, stream: true });
    let thought = '';
    for await (const { choices: said } of stream)
      thought += (said[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
    assert.equal(thought, 'They greet me.');
  });

  it('and to those of messages and of responses', async () => {
    const ask = { model: 'ada', max_tokens: 100, messages };
    const { content, usage } = await anthropic.messages.create(ask);
    assert.deepEqual(
      content.map((block) => (block.type === 'thinking' ? block.thinking : block.type === 'text' ? block.text : '')),
      ['They greet me.', 'Hello.'],
    );
    assert.deepEqual([usage.input_tokens, usage.cache_read_input_tokens], [40, 60]);
    const streamed = await anthropic.messages.stream(ask).finalMessage();
    assert.deepEqual(
      streamed.content.map(({ type }) => type),
      ['thinking', 'text'],
    );
    const response = await openai.responses.create({ model: 'ada', input: 'Hi', store: false });
    assert.deepEqual(
      response.output.map(({ type }) => type),
      ['reasoning', 'message'],
    );
    assert.equal(response.usage?.output_tokens_details.reasoning_tokens, 15);
  });

  it('with top_k and a key for the cache', async () => {
    const more = { top_k: 7, prompt_cache_key: 'k' } as object;
    await openai.chat.completions.create({ model: 'ada', messages, ...more });
    assert.equal(world.openrouter.requests.at(-1)!.body['top_k'], 7);
  });
});

describe('models', () => {
  it('are found by the clients of both, and one by its id', async () => {
    assert.equal((await openai.models.retrieve(MODEL)).id, MODEL);
    assert.equal((await fetch(`${url}/v1/models/${MODEL}`, { headers: { 'x-api-key': world.user.key } })).status, 200);
    const { data } = await anthropic.models.list();
    assert.deepEqual([data[0]?.id, data[0]?.display_name], [MODEL, 'Ada']);
    assert.equal((await anthropic.models.retrieve(MODEL)).type, 'model');
    const lost = await anthropic.models.retrieve('nobody/nothing').catch((error: unknown) => error);
    assert.ok(lost instanceof Anthropic.NotFoundError);
    const broken = await fetch(`${url}/v1/models/%ff`, { headers: { 'x-api-key': world.user.key } });
    assert.equal(broken.status, 400);
  });

  it('count what they are given', async () => {
    const count = async (content: string) =>
      (await anthropic.messages.countTokens({ model: 'ada', messages: [{ role: 'user', content }] })).input_tokens;
    assert.ok((await count('word '.repeat(4000))) - (await count('Hi')) > 4000);
    const refused = await anthropic.messages
      .countTokens({ model: 'ada', messages: [] })
      .catch((error: unknown) => error);
    assert.ok(refused instanceof Anthropic.BadRequestError && /at least one message/.test(refused.message));
  });

  it('make no embeddings, and say who does', async () => {
    const refused = await openai.embeddings.create({ model: 'ada', input: 'Hi' }).catch((error: unknown) => error);
    assert.ok(refused instanceof OpenAI.BadRequestError && /platform/.test(refused.message));
  });
});

describe('that it cannot answer', () => {
  it('now is a 429, with when to come again', async () => {
    world.openrouter.answer((_request, response) => {
      response.setHeader('retry-after', '7');
      replyJson(response, { error: 'slow' }, 429);
    });
    const busy = await openai.chat.completions.create({ model: 'ada', messages }).catch((error: unknown) => error);
    assert.ok(busy instanceof OpenAI.RateLimitError, String(busy));
    assert.deepEqual([busy.headers.get('retry-after'), busy.headers.get('x-should-retry')], ['7', null]);
    const limited = await anthropic.messages
      .create({ model: 'ada', max_tokens: 100, messages })
      .catch((error: unknown) => error);
    assert.ok(limited instanceof Anthropic.RateLimitError);
    assert.equal(limited.headers.get('retry-after'), '7');
  });

  it('for want of money is not tried again', async () => {
    const cap = await fetch(`${world.services.web}/api/usage/caps`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${world.user.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ scope: 'user', limitUsd: 0.000001 }),
    });
    assert.equal(cap.status, 200);
    let asked = 0;
    const patient = new OpenAI({
      baseURL: `${url}/v1`,
      apiKey: world.user.key,
      maxRetries: 3,
      fetch: (...given) => {
        asked += 1;
        return fetch(...given);
      },
    });
    const refused = await patient.chat.completions.create({ model: 'ada', messages }).catch((error: unknown) => error);
    assert.ok(refused instanceof OpenAI.RateLimitError && refused.code === 'QUOTA_EXCEEDED', String(refused));
    assert.deepEqual([asked, world.openrouter.requests.length], [1, 0]);
  });
});
