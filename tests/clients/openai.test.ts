import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { replyChat, replyJson } from '@troupe/ai';
import OpenAI from 'openai';
import { replyMessage, reset, startWorld, type World } from '@troupe/testing/services/world';

/** The official client of OpenAI; tests/spec/4.6-openai.test.ts has its chat. */

let world: World;
let openai: OpenAI;

before(async () => {
  world = await startWorld();
  openai = new OpenAI({ baseURL: `${world.services.backend}/v1`, apiKey: world.user.key, maxRetries: 0 });
});
beforeEach(() => reset(world));
after(() => world.stop());

const MODEL = 'openai/gpt-4o-mini';
const TOOL = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: false,
};

describe('chat', () => {
  it('takes an empty content, files and pictures of more than a megabyte', async () => {
    const picture = `data:image/png;base64,${Buffer.alloc(2_000_000, 7).toString('base64')}`;
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' };
    const { choices } = await openai.chat.completions.create({
      model: MODEL,
      messages: [
        { role: 'user', content: '' },
        { role: 'assistant', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'image_url', image_url: { url: picture } },
            { type: 'file', file },
          ],
        },
      ],
    });
    assert.equal(choices[0]?.message.content, 'Hello from the provider.');
    const sent = world.openrouter.requests[0]!.body['messages'] as {
      content: { file?: object; image_url?: object }[];
    }[];
    assert.deepEqual([sent[2]?.content[1]?.image_url, sent[2]?.content[2]?.file], [{ url: picture }, file]);
  });

  it('is told that a body beyond 32 MB is too large, and of JSON that is not mostly text', async () => {
    const ask = (body: string) =>
      fetch(`${world.services.backend}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.user.key}`, 'content-type': 'application/json' },
        body,
      });
    const large = await ask(JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(33 * 1024 * 1024) }] }));
    assert.deepEqual([large.status, ((await large.json()) as Any).error.type], [413, 'invalid_request_error']);
    const dense = await ask(`{"messages":[${'{},'.repeat(500_000)}{}]}`);
    assert.deepEqual(
      [dense.status, ((await dense.json()) as Any).error.message],
      [
        400,
        'JSON of more than 1 MB must not have more than a million characters outside of its texts, nor as many escapes in them',
      ],
    );
  });

  it('a provider’s 429 stays one and says when to come again', async () => {
    world.openrouter.answer((_request, response) => {
      response.setHeader('retry-after', '7');
      replyJson(response, { error: { message: 'slow down' } }, 429);
    });
    await assert.rejects(
      openai.chat.completions.create({ model: 'xiaomi/mimo-v2-pro', messages: [{ role: 'user', content: 'Hi' }] }),
      (error: InstanceType<typeof OpenAI.APIError>) => {
        assert.ok(error instanceof OpenAI.RateLimitError);
        assert.deepEqual([error.headers?.get('retry-after'), error.type], ['7', 'rate_limit_error']);
        return true;
      },
    );
  });

  it('passes on how much to think, and what was thought and cached is told and recorded', async () => {
    world.openrouter.answer((_request, response) =>
      replyJson(response, {
        choices: [{ message: { role: 'assistant', content: 'Four', reasoning: 'Two and two' }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 20,
          total_tokens: 120,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 15 },
        },
      }),
    );
    const { choices, usage } = await openai.chat.completions.create({
      model: MODEL,
      messages: [{ role: 'user', content: 'Hi' }],
      reasoning_effort: 'high',
    });
    assert.deepEqual(world.openrouter.requests[0]!.body['reasoning'], { effort: 'high' });
    assert.equal((choices[0]!.message as Any).reasoning_content, 'Two and two');
    assert.equal(usage?.prompt_tokens_details?.cached_tokens, 60);
    assert.equal(usage?.completion_tokens_details?.reasoning_tokens, 15);
    const row = await world.usage(({ cached_tokens: cached }) => cached === 60n);
    assert.deepEqual([row.input_tokens, row.output_tokens, row.reasoning_tokens], [100n, 20n, 15n]);
  });

  it('what does not exist is answered in its shape', async () => {
    await assert.rejects(openai.files.list(), (error: InstanceType<typeof OpenAI.APIError>) => {
      const told = '404 Files are there for clients of Anthropic’s API';
      assert.deepEqual([error.status, error.type, error.message], [404, 'not_found_error', told]);
      return true;
    });
    await assert.rejects(openai.vectorStores.list(), (error: InstanceType<typeof OpenAI.APIError>) => {
      assert.deepEqual([error.status, error.type, error.message], [404, 'not_found_error', '404 Not found']);
      return true;
    });
  });
});

// oxlint-disable-next-line typescript/no-explicit-any -- each test says what it reads of an answer
type Any = any;

describe('responses', () => {
  it('answer, with instructions, and say that nothing is stored where that is not wanted', async () => {
    const response = await openai.responses.create({
      model: MODEL,
      instructions: 'Be brief.',
      input: 'Hi',
      store: false,
    });
    assert.equal(response.output_text, 'Hello from the provider.');
    assert.deepEqual(
      [response.status, (response as Any).store, response.usage?.total_tokens],
      ['completed', false, 19],
    );
    assert.deepEqual(world.openrouter.requests[0]!.body['messages'], [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ]);
  });

  it('call tools, and go on with their results', async () => {
    world.openrouter.answer((request, response) =>
      replyChat(request, response, {
        content: null,
        toolCalls: [
          { id: 'call_1', name: 'weather', arguments: '{"city":"Bern"}' },
          { id: 'call_2', name: 'weather', arguments: '{"city":"Ulm"}' },
        ],
      }),
    );
    const first = await openai.responses.create({ model: MODEL, input: 'Weather?', tools: [TOOL], store: false });
    const calls = first.output.filter((item) => item.type === 'function_call');
    assert.deepEqual(
      calls.map(({ call_id: id, arguments: args }) => [id, args]),
      [
        ['call_1', '{"city":"Bern"}'],
        ['call_2', '{"city":"Ulm"}'],
      ],
    );
    reset(world);
    await openai.responses.create({
      model: MODEL,
      tools: [TOOL],
      input: [
        { role: 'user', content: 'Weather?' },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { type: 'function_call_output', call_id: 'call_1', output: 'Sun' },
        { type: 'function_call_output', call_id: 'call_2', output: 'Rain' },
      ],
    });
    const sent = world.openrouter.requests[0]!.body['messages'] as Any[];
    assert.deepEqual(
      sent.map(({ role, content, tool_calls: made }) => [role, made?.length ?? content]),
      [
        ['user', 'Weather?'],
        ['assistant', 2],
        ['tool', 'Sun'],
        ['tool', 'Rain'],
      ],
    );
  });

  it('stream words and calls', async () => {
    world.openrouter.answer((request, response) =>
      replyChat(request, response, {
        content: 'I look it up',
        toolCalls: [{ id: 'call_9', name: 'weather', arguments: '{"city":"Bern"}' }],
      }),
    );
    const stream = openai.responses.stream({ model: MODEL, input: 'Weather?', tools: [TOOL] });
    const types = new Set<string>();
    for await (const event of stream) types.add(event.type);
    const final = await stream.finalResponse();
    assert.equal(final.output_text, 'I look it up');
    const call = final.output.find((item) => item.type === 'function_call');
    assert.deepEqual([call?.call_id, call?.arguments], ['call_9', '{"city":"Bern"}']);
    for (const type of ['response.created', 'response.output_text.delta', 'response.function_call_arguments.done'])
      assert.ok(types.has(type), type);
  });

  it('keep to a schema', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    await openai.responses.create({
      model: MODEL,
      input: 'Hi',
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
    });
    assert.deepEqual(world.openrouter.requests[0]!.body['response_format'], {
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    });
  });

  it('refuse by name what is not there, and tools that the server would run', async () => {
    const cases: [string, object][] = [
      ['there is no response resp_1', { previous_response_id: 'resp_1' }],
      ['conversation', { conversation: 'conv_1' }],
      ['background', { background: true }],
      ['item_reference', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
      ['tools must be of type function', { tools: [{ type: 'file_search', vector_store_ids: ['a'] }] }],
    ];
    for (const [what, more] of cases)
      await assert.rejects(
        openai.responses.create({ model: MODEL, input: 'Hi', ...more } as never),
        (error: InstanceType<typeof OpenAI.APIError>) => {
          assert.deepEqual([error.status, error.type], [400, 'invalid_request_error']);
          return error.message.includes(what);
        },
        what,
      );
  });

  it('a stream that breaks off ends with response.failed', async () => {
    world.openrouter.answer((_request, response) => {
      response.writeHead(200).write('data: {"choices":[{"delta":{"content":"Half"}}]}\n\n', () => response.destroy());
    });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const stream = await openai.responses.create({ model: MODEL, input: 'Hi', stream: true });
    for await (const event of stream) events.push(event);
    const last = events.at(-1)!;
    assert.ok(last.type === 'response.failed' && last.response.error?.message.includes('cannot be used'));
  });

  it('reach Anthropic’s models too, with what they thought', async () => {
    const content = [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'text', text: 'Yes' },
    ];
    world.anthropic.answer((request, response) => replyMessage(request, response, content));
    const ask = (input: OpenAI.Responses.ResponseInput) =>
      openai.responses.create({ model: 'claude-opus-4-6', input, reasoning: { effort: 'low' } });
    const first = await ask([{ role: 'user', content: 'Hi' }]);
    assert.equal(first.usage?.input_tokens_details.cached_tokens, 6);
    await ask([
      { role: 'user', content: 'Hi' },
      ...(first.output as OpenAI.Responses.ResponseInputItem[]),
      { role: 'user', content: 'And?' },
    ]);
    const [one, two] = world.anthropic.requests.map(({ body }) => body as Any);
    assert.deepEqual(one.thinking, { type: 'enabled', budget_tokens: 2048 });
    assert.deepEqual(two.messages[1].content[0], content[0]);
  });
});

describe('embeddings and models', () => {
  it('embeds, metered and priced', async () => {
    world.openrouter.answer((request, response) => {
      assert.equal(request.path, '/embeddings');
      const floats = Buffer.from(new Float32Array([0.5, -1]).buffer).toString('base64');
      const input = request.body['input'] as string[];
      const embedding = request.body['encoding_format'] === 'base64' ? floats : [0.5, -1];
      const data = input.map((_, index) => ({ object: 'embedding', index, embedding }));
      replyJson(response, { object: 'list', data, usage: { prompt_tokens: 1000, total_tokens: 1000 } });
    });
    const { data, usage } = await openai.embeddings.create({
      model: 'text-embedding-3-small',
      input: ['one', 'two'],
      dimensions: 2,
    });
    assert.deepEqual([data.length, data[1]?.embedding, usage.total_tokens], [2, [0.5, -1], 1000]);
    const row = await world.usage(({ model }) => model === 'openai/text-embedding-3-small');
    assert.deepEqual([row.input_tokens, row.cost_micros], [1000n, 20n]);
    await assert.rejects(openai.embeddings.create({ model: 'claude-opus-4-6', input: '' }), { status: 400 });
    await assert.rejects(openai.embeddings.create({ model: 'ollama/none', input: 'x' }), { status: 404 });
  });

  it('embeds a text alone and lists of tokens, as they are given', async () => {
    const seen: unknown[] = [];
    world.openrouter.answer((request, response) => {
      const { input } = request.body as { input: unknown };
      seen.push(input);
      const several = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
      const data = Array.from({ length: several }, (_, index) => ({ object: 'embedding', index, embedding: [1, 0] }));
      replyJson(response, { object: 'list', data, usage: { prompt_tokens: 3, total_tokens: 3 } });
    });
    const given = ['one', [101, 2023], [[101], [2023, 102]]];
    const counts = [];
    for (const input of given) {
      const model = 'text-embedding-3-small';
      counts.push((await openai.embeddings.create({ model, input, encoding_format: 'float' })).data.length);
    }
    assert.deepEqual([seen, counts], [given, [1, 1, 2]]);
  });

  it('lists and finds models', async () => {
    const { data } = await openai.models.list();
    assert.ok(data.some(({ id }) => id === MODEL));
    assert.equal((await openai.models.retrieve(MODEL)).id, MODEL);
    const raw = await fetch(`${world.services.backend}/v1/models/${MODEL}`, {
      headers: { authorization: `Bearer ${world.user.key}` },
    });
    assert.equal(((await raw.json()) as Any).id, MODEL);
    await assert.rejects(openai.models.retrieve('nobody/nothing'), { status: 404, code: 'model_not_found' });
  });
});
