import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createStandIn, replyChat, type StandIn } from '@troupe/ai';
import OpenAI from 'openai';
import { addUser, startServices, type Services } from '@troupe/testing/services/services';

let upstream: StandIn;
let services: Services;

before(async () => {
  upstream = await createStandIn();
  services = await startServices({ OPENROUTER_API_KEY: 'or-key', OPENROUTER_BASE_URL: upstream.url });
});

beforeEach(() => {
  upstream.answer((request, response) => replyChat(request, response));
  upstream.requests.length = 0;
});

after(async () => {
  await services.stop();
  await upstream.close();
});

describe('the official OpenAI client', () => {
  let openai: OpenAI;
  let key: string;
  before(async () => {
    ({ key } = await addUser(services.runtime, { plan: 'collective' }));
    openai = new OpenAI({ baseURL: `${services.backend}/v1`, apiKey: key, maxRetries: 0 });
  });

  it('lists the models of the plan', async () => {
    const { data } = await openai.models.list();
    assert.deepEqual(data.map((model) => model.id).toSorted(), [
      'anthropic/claude-3.5-sonnet',
      'google/gemini-2.0-flash',
      'openai/gpt-4o',
      'openai/gpt-4o-mini',
      'xiaomi/mimo-v2-pro',
    ]);
  });

  it('completes, with tools there and back', async () => {
    const tools = [
      { type: 'function' as const, function: { name: 'add', parameters: { type: 'object', properties: {} } } },
    ];
    upstream.answer((request, response) =>
      replyChat(request, response, { content: null, toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1}' }] }),
    );
    const first = await openai.chat.completions.create({
      model: 'openai/gpt-4o',
      messages: [{ role: 'user', content: 'Add' }],
      tools,
      tool_choice: 'auto',
    });
    assert.equal(first.choices[0]?.finish_reason, 'tool_calls');
    const message = first.choices[0]!.message;
    assert.deepEqual(message.tool_calls, [
      { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
    ]);
    assert.deepEqual(upstream.requests[0]!.body['tools'], tools);
    upstream.answer((request, response) => replyChat(request, response, { content: 'Two' }));
    const second = await openai.chat.completions.create({
      model: 'openai/gpt-4o',
      messages: [{ role: 'user', content: 'Add' }, message, { role: 'tool', tool_call_id: 'call_1', content: '2' }],
      tools,
    });
    assert.equal(second.choices[0]?.message.content, 'Two');
    assert.equal(second.usage?.total_tokens, 19);
    assert.equal((upstream.requests[1]!.body['messages'] as unknown[]).length, 3);
  });

  it('streams text, tools and usage', async () => {
    upstream.answer((request, response) =>
      replyChat(request, response, {
        content: 'I add',
        toolCalls: [{ id: 'call_9', name: 'add', arguments: '{"a":2}' }],
      }),
    );
    const stream = openai.chat.completions.stream({
      model: 'openai/gpt-4o',
      messages: [{ role: 'user', content: 'Add' }],
      stream_options: { include_usage: true },
    });
    const final = await stream.finalChatCompletion();
    assert.equal(final.choices[0]?.message.content, 'I add');
    assert.equal(final.choices[0]?.message.tool_calls?.[0]?.id, 'call_9');
    assert.equal(final.usage?.total_tokens, 19);
  });

  it('may say null for what it leaves out', async () => {
    const { choices } = await openai.chat.completions.create({
      model: 'openai/gpt-4o',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Yes?', tool_calls: null as never },
        { role: 'user', content: 'Nothing' },
      ],
      temperature: null,
      top_p: null,
      stop: null,
      seed: null,
      max_tokens: null,
      max_completion_tokens: null,
      presence_penalty: null,
      tools: null as never,
      stream: null,
      stream_options: null,
    });
    assert.equal(choices[0]?.finish_reason, 'stop');
    const { body } = upstream.requests[0]!;
    assert.deepEqual(Object.keys(body), ['model', 'messages']);
    assert.deepEqual((body['messages'] as unknown[])[1], { role: 'assistant', content: 'Yes?' });
  });

  it('gets one choice, and is told so when it asks for more', async () => {
    const ask = (n: number | null) =>
      openai.chat.completions.create({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }], n });
    assert.equal((await ask(1)).choices.length, 1);
    assert.equal((await ask(null)).choices.length, 1);
    await assert.rejects(ask(2), { status: 400, message: '400 n must be 1: one choice is given' });
  });

  it('is told what is wrong', async () => {
    for (const model of ['openai/gpt\u0001-4o', 'a\nb'])
      await assert.rejects(openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] }), {
        status: 400,
        message: '400 model must be a name without control characters',
        type: 'invalid_request_error',
        param: 'model',
      });
    await assert.rejects(
      openai.chat.completions.create({ model: 'claude-opus-4-6', messages: [{ role: 'user', content: 'Hi' }] }),
      (error: InstanceType<typeof OpenAI.APIError>) => {
        assert.equal(error.status, 403);
        return /not available on your plan/.test(error.message);
      },
    );
    await assert.rejects(
      new OpenAI({ baseURL: `${services.backend}/v1`, apiKey: `sk_${'0'.repeat(64)}`, maxRetries: 0 }).models.list(),
      { status: 401 },
    );
    const { key: unpaid } = await addUser(services.runtime, { plan: 'solo', subscriptionStatus: 'inactive' });
    await assert.rejects(
      new OpenAI({ baseURL: `${services.backend}/v1`, apiKey: unpaid, maxRetries: 0 }).models.list(),
      { status: 402 },
    );
  });

  it('a break in the middle of a stream is an error', async () => {
    upstream.answer((_request, response) => {
      response.writeHead(200).write('data: {"choices":[{"delta":{"content":"Half"}}]}\n\n', () => response.destroy());
    });
    const stream = await openai.chat.completions.create({
      model: 'openai/gpt-4o',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    });
    await assert.rejects(async () => {
      for await (const chunk of stream) void chunk;
    }, /cannot be used/);
  });
});
