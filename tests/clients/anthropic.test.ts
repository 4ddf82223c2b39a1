import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { replyChat, replyJson } from '@troupe/ai';
import { replyMessage, reset, startWorld, type World } from '@troupe/testing/services/world';

/** The official client of Anthropic, with models of Anthropic and of others. */

let world: World;
let client: Anthropic;

before(async () => {
  world = await startWorld();
  client = new Anthropic({ baseURL: world.services.backend, apiKey: world.user.key, maxRetries: 0 });
});
beforeEach(() => reset(world));
after(() => world.stop());

const OTHER = 'openai/gpt-4o-mini';
const CLAUDE = 'claude-opus-4-6';
const ask = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const tools = [{ name: 'weather', input_schema: { type: 'object' as const, properties: {} } }];

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
type Any = any;

describe('messages', () => {
  it('of a model that speaks another format', async () => {
    const message = await client.messages.create({ ...ask, model: OTHER, system: 'Be brief.', stop_sequences: ['X'] });
    assert.deepEqual(message.content, [{ type: 'text', text: 'Hello from the provider.' }]);
    assert.deepEqual(
      [message.stop_reason, message.usage.input_tokens, message.usage.output_tokens],
      ['end_turn', 12, 7],
    );
    const { body } = world.openrouter.requests[0]!;
    assert.deepEqual(
      [body['messages'], body['max_tokens'], body['stop']],
      [
        [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
        100,
        ['X'],
      ],
    );
  });

  it('with the key as bearer', async () => {
    const bearer = new Anthropic({ baseURL: world.services.backend, authToken: world.user.key, apiKey: null });
    assert.equal((await bearer.messages.create({ ...ask, model: OTHER })).type, 'message');
  });

  it('with tools, pictures and failed results, there and back', async () => {
    world.openrouter.answer((request, response) =>
      replyChat(request, response, {
        content: 'Let me see',
        toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' }],
      }),
    );
    const first = await client.messages.create({ ...ask, model: OTHER, tools, tool_choice: { type: 'any' } });
    assert.equal(first.stop_reason, 'tool_use');
    assert.deepEqual(first.content[1], { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bern' } });
    assert.equal(world.openrouter.requests[0]!.body['tool_choice'], 'required');
    reset(world);
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGk=' };
    await client.messages.create({
      model: OTHER,
      max_tokens: 100,
      tools,
      messages: [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', content: first.content as Anthropic.ContentBlockParam[] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'image', source }], is_error: true },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
    });
    assert.deepEqual(world.openrouter.requests[0]!.body['messages'], [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: 'Let me see',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Shown below.' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }] },
      { role: 'user', content: 'Well?' },
    ]);
  });

  it('in a stream, of any model', async () => {
    world.openrouter.answer((request, response) =>
      replyChat(request, response, {
        content: 'Two calls',
        toolCalls: [
          { id: 'c1', name: 'weather', arguments: '{"city":"Bern"}' },
          { id: 'c2', name: 'weather', arguments: '{}' },
        ],
      }),
    );
    const stream = client.messages.stream({ ...ask, model: OTHER, tools });
    const final = await stream.finalMessage();
    assert.deepEqual(
      final.content.map((block) => (block.type === 'tool_use' ? [block.id, block.input] : block.type)),
      ['text', ['c1', { city: 'Bern' }], ['c2', {}]],
    );
    assert.deepEqual([final.stop_reason, final.usage.input_tokens, final.usage.output_tokens], ['tool_use', 12, 7]);
  });

  it('thoughts, marks for the cache and its counts reach Anthropic and come back', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'text', text: 'Yes' },
    ];
    world.anthropic.answer((request, response) => replyMessage(request, response, content));
    const cached = { type: 'ephemeral' as const };
    const request = {
      model: CLAUDE,
      max_tokens: 4000,
      system: [{ type: 'text' as const, text: 'Long', cache_control: cached }],
      thinking: { type: 'enabled' as const, budget_tokens: 2000 },
      messages: [{ role: 'user' as const, content: 'Hi' }],
    };
    const whole = await client.messages.create(request);
    const streamed = await client.messages.stream(request).finalMessage();
    for (const message of [whole, streamed]) {
      assert.deepEqual(
        message.content.map(({ type }) => type),
        ['thinking', 'text'],
      );
      assert.equal((message.content[0] as Any).signature, 'sig');
      const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: made } = message.usage;
      assert.deepEqual([input, read, made], [10, 6, 4]);
    }
    const sent = world.anthropic.requests[0]!.body as Any;
    assert.deepEqual([sent.system, sent.thinking, sent.max_tokens], [request.system, request.thinking, 4000]);
    const row = await world.usage(({ model }) => model === CLAUDE);
    assert.deepEqual([row.input_tokens, row.cached_tokens], [20n, 6n]);
  });

  it('are counted by Anthropic where it serves the model, else estimated', async () => {
    const { messages } = ask;
    assert.deepEqual(await client.messages.countTokens({ model: CLAUDE, messages }), { input_tokens: 42 });
    const { input_tokens: guess } = await client.messages.countTokens({ model: OTHER, messages, tools });
    assert.ok(guess > 0 && guess < 100, String(guess));
  });
});

describe('errors', () => {
  const caught = async (work: Promise<unknown>): Promise<Any> =>
    work.then(
      () => assert.fail('no error'),
      (error: unknown) => error,
    );

  it('have its shape and its class', async () => {
    const stranger = new Anthropic({ baseURL: world.services.backend, apiKey: `sk_${'0'.repeat(64)}`, maxRetries: 0 });
    const unknown = await caught(stranger.messages.create({ ...ask, model: OTHER }));
    assert.equal(unknown.error.error.type, 'authentication_error');
    assert.match(unknown.error.request_id, /./);
    assert.ok(unknown instanceof Anthropic.AuthenticationError);
    const empty = await caught(client.messages.create({ ...ask, model: OTHER, messages: [] }));
    assert.ok(empty instanceof Anthropic.BadRequestError && /at least one message/.test(empty.message));
    const server = await caught(
      client.messages.create({ ...ask, model: OTHER, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
    );
    assert.ok(server instanceof Anthropic.BadRequestError && /your own/.test(server.message), server.message);
    const lost = await caught(client.models.retrieve('nobody/nothing'));
    assert.deepEqual([lost.status, lost.error.error.type], [404, 'not_found_error']);
  });

  it('a provider’s 429 stays one, and a stream that breaks off is an error event', async () => {
    world.openrouter.answer((_request, response) => {
      response.setHeader('retry-after', '3');
      replyJson(response, { error: 'slow' }, 429);
    });
    const limited = await caught(client.messages.create({ ...ask, model: 'xiaomi/mimo-v2-pro' }));
    assert.ok(limited instanceof Anthropic.RateLimitError);
    assert.equal(limited.headers.get('retry-after'), '3');
    world.openrouter.answer((_request, response) => {
      response.writeHead(200).write('data: {"choices":[{"delta":{"content":"Half"}}]}\n\n', () => response.destroy());
    });
    const broken = await caught(client.messages.stream({ ...ask, model: OTHER }).finalMessage());
    assert.match(broken.message, /cannot be used/);
  });

  it('a cap that is reached is not tried again', async () => {
    const cap = await fetch(`${world.services.web}/api/usage/caps`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${world.user.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ scope: 'user', limitUsd: 0.000001 }),
    });
    assert.equal(cap.status, 200);
    const patient = new Anthropic({ baseURL: world.services.backend, apiKey: world.user.key, maxRetries: 3 });
    const refused = await caught(patient.messages.create({ ...ask, model: OTHER }));
    assert.deepEqual([refused.status, refused.error.error.code], [429, 'QUOTA_EXCEEDED']);
    assert.equal(world.openrouter.requests.length, 0);
  });
});

it('lists models', async () => {
  const models = await client.models.list();
  assert.ok(models.data.some(({ id, display_name: name }) => id === OTHER && name === 'GPT-4o mini'));
});
