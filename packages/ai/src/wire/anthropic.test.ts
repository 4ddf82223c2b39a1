import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { silentLog } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { createAi } from '../ai.ts';
import { providersFrom } from '../setup.ts';
import { createStandIn, replyJson, type StandInHandler } from '../stand-in.ts';
import type { ChatDelta, ChatRequest } from '../types.ts';

const upstream = await createStandIn();
const ai = createAi({
  providers: providersFrom(testSettings({ ANTHROPIC_API_KEY: 'ant-key', ANTHROPIC_BASE_URL: upstream.url })),
  catalogue: BUILT_IN_CATALOGUE,
  log: silentLog,
});
const PREMIUM = 'claude-opus-4-6';

const answer =
  (content: object[], stop = 'end_turn'): StandInHandler =>
  (_request, response) =>
    replyJson(response, {
      type: 'message',
      content,
      stop_reason: stop,
      usage: { input_tokens: 10, cache_read_input_tokens: 5, output_tokens: 4 },
    });

const events =
  (...list: object[]): StandInHandler =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of list)
      response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };

beforeEach(() => {
  upstream.requests.length = 0;
});

after(async () => {
  await ai.close();
  await upstream.close();
});

describe('Anthropic’s wire format', () => {
  it('gets the conversation in its own shape', async () => {
    upstream.answer(answer([{ type: 'text', text: 'Fine.' }]));
    const request: ChatRequest = {
      model: PREMIUM,
      temperature: 1.7,
      top_p: 0.5,
      stop: 'END',
      messages: [
        { role: 'system', content: 'Be short.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 't1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 't1', content: '2' },
        { role: 'user', content: 'And?' },
      ],
      tools: [{ type: 'function', function: { name: 'add', description: 'Adds', parameters: { type: 'object' } } }],
      tool_choice: 'required',
    };
    const result = await ai.chat(request);
    const { path, headers, body } = upstream.requests[0]!;
    assert.deepEqual(
      [path, headers['x-api-key'], headers['anthropic-version']],
      ['/v1/messages', 'ant-key', '2023-06-01'],
    );
    assert.deepEqual(body, {
      model: PREMIUM,
      max_tokens: 4096,
      system: 'Be short.',
      temperature: 1,
      stop_sequences: ['END'],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: '2' },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools: [{ name: 'add', description: 'Adds', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any' },
    });
    assert.deepEqual(result.message, { role: 'assistant', content: 'Fine.' });
    assert.deepEqual(result.usage, {
      prompt_tokens: 15,
      completion_tokens: 4,
      total_tokens: 19,
      prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 0 },
    });
    assert.deepEqual([result.provider, result.costMicros], ['anthropic', 15 * 15 + 4 * 75]);
  });

  it('answers with tool calls in OpenAI’s shape', async () => {
    upstream.answer(
      answer(
        [
          { type: 'text', text: 'Adding.' },
          { type: 'tool_use', id: 't9', name: 'add', input: { a: 2 } },
        ],
        'tool_use',
      ),
    );
    const { message, finishReason } = await ai.chat({ model: PREMIUM, messages: [{ role: 'user', content: 'Add' }] });
    assert.deepEqual(message.tool_calls, [
      { id: 't9', type: 'function', function: { name: 'add', arguments: '{"a":2}' } },
    ]);
    assert.deepEqual([message.content, finishReason], ['Adding.', 'tool_calls']);
  });

  it('streams text, tool calls and counts', async () => {
    upstream.answer(
      events(
        { type: 'message_start', message: { usage: { input_tokens: 20, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'ping' },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Adding' } },
        {
          type: 'content_block_start',
          index: 1,
          content_block: { type: 'tool_use', id: 't2', name: 'add', input: {} },
        },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '3}' } },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      ),
    );
    const deltas: ChatDelta[] = [];
    for await (const delta of ai.stream({ model: PREMIUM, messages: [{ role: 'user', content: 'Add' }] }))
      deltas.push(delta);
    const calls = deltas.flatMap((delta) => delta.toolCalls ?? []);
    assert.equal(deltas.map((delta) => delta.content ?? '').join(''), 'Adding');
    assert.deepEqual(
      calls.map((call) => [call.index, call.id, call.function?.name]),
      [
        [0, 't2', 'add'],
        [0, undefined, undefined],
        [0, undefined, undefined],
      ],
    );
    assert.equal(calls.map((call) => call.function?.arguments ?? '').join(''), '{"a":3}');
    assert.deepEqual(deltas.at(-1)?.usage, { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 });
    assert.equal(deltas.at(-1)?.finishReason, 'tool_calls');
  });

  it('streams the arguments of a call that has none, or has them at once, as JSON too', async () => {
    const call = (index: number, input: object) => [
      { type: 'content_block_start', index, content_block: { type: 'tool_use', id: `t${index}`, name: 'now', input } },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '' } },
      { type: 'content_block_stop', index },
    ];
    upstream.answer(
      events(
        { type: 'message_start', message: {} },
        ...call(0, {}),
        ...call(1, { zone: 'UTC' }),
        { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
        { type: 'message_stop' },
      ),
    );
    const said = ['', ''];
    for await (const { toolCalls = [] } of ai.stream({
      model: PREMIUM,
      messages: [{ role: 'user', content: 'When?' }],
    }))
      for (const { index, function: part } of toolCalls) said[index] += part?.arguments ?? '';
    assert.deepEqual(said, ['{}', '{"zone":"UTC"}']);
  });

  it('falls back when an error comes instead of the answer', async () => {
    upstream.answer((request, response) => {
      if (request.body['model'] !== PREMIUM) return answer([{ type: 'text', text: 'second' }])(request, response);
      replyJson(response, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529);
    });
    const result = await ai.chat({ model: PREMIUM, messages: [{ role: 'user', content: 'Hi' }] });
    assert.deepEqual([result.model, result.message.content], ['anthropic/claude-sonnet-4.5', 'second']);
  });

  it('falls back when a stream is overloaded before it has said anything', async () => {
    upstream.answer((request, response) => {
      if (request.body['model'] === PREMIUM)
        return events(
          { type: 'message_start', message: { usage: { input_tokens: 20, output_tokens: 1 } } },
          { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
        )(request, response);
      return events(
        { type: 'message_start', message: { usage: { input_tokens: 20, output_tokens: 1 } } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'second' } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
        { type: 'message_stop' },
      )(request, response);
    });
    const deltas: ChatDelta[] = [];
    for await (const delta of ai.stream({ model: PREMIUM, messages: [{ role: 'user', content: 'Hi' }] }))
      deltas.push(delta);
    assert.deepEqual(
      deltas.map(({ model, content }) => [model, content]),
      [
        ['anthropic/claude-sonnet-4.5', 'second'],
        ['anthropic/claude-sonnet-4.5', undefined],
      ],
    );
    assert.deepEqual(deltas.at(-1)?.usage, { prompt_tokens: 20, completion_tokens: 3, total_tokens: 23 });
  });

  it('takes no count that cannot be one', async () => {
    upstream.answer((_request, response) =>
      replyJson(response, {
        content: [{ type: 'text', text: 'Fine' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: -1_000_000, output_tokens: 1 },
      }),
    );
    const { usage, usageEstimated, costMicros } = await ai.chat({
      model: PREMIUM,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    assert.deepEqual([usage.prompt_tokens, usageEstimated, costMicros], [1, true, 15 + 75]);
  });

  it('gets neither empty texts nor a list as a tool’s input', async () => {
    upstream.answer(answer([{ type: 'text', text: 'Fine.' }]));
    await ai.chat({
      model: PREMIUM,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'Go' },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 't1', type: 'function', function: { name: 'add', arguments: '[1]' } }],
        },
        { role: 'tool', tool_call_id: 't1', content: '2' },
      ],
    });
    assert.deepEqual((upstream.requests[0]!.body['messages'] as unknown[]).slice(0, 2), [
      { role: 'user', content: [{ type: 'text', text: 'Go' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'add', input: { value: [1] } }] },
    ]);
  });

  it('gets the results of tools before what was said between them', async () => {
    upstream.answer(answer([{ type: 'text', text: 'Fine.' }]));
    const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'add', arguments: '{}' } });
    await ai.chat({
      model: PREMIUM,
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: null, tool_calls: [call('t1'), call('t2')] },
        { role: 'tool', tool_call_id: 't1', content: '1' },
        { role: 'user', content: 'Hurry' },
        { role: 'tool', tool_call_id: 't2', content: '2' },
      ],
    });
    assert.deepEqual((upstream.requests[0]!.body['messages'] as unknown[])[2], {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: '1' },
        { type: 'tool_result', tool_use_id: 't2', content: '2' },
        { type: 'text', text: 'Hurry' },
      ],
    });
  });

  it('a stream that ends without its last event is broken', async () => {
    upstream.answer(
      events(
        { type: 'message_start', message: {} },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
      ),
    );
    await assert.rejects(
      async () => {
        for await (const delta of ai.stream({ model: PREMIUM, messages: [{ role: 'user', content: 'Hi' }] }))
          void delta;
      },
      { status: 502 },
    );
  });
});
