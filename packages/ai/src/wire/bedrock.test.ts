import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { amazonSigned } from '@troupe/kernel';
import { testSettings } from '@troupe/testing/http/server';
import { ProviderError } from '../errors.ts';
import type { ProviderDelta } from '../provider.ts';
import { providerOf } from '../setup.ts';
import { createStandIn, replyJson, type StandIn } from '../stand-in.ts';
import type { ChatRequest } from '../types.ts';
import { amazonFrame as frame } from './testing.ts';

const ASK: ChatRequest = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 100 };

let upstream: StandIn;
before(async () => (upstream = await createStandIn()));
after(() => upstream.close());

async function read(stream: AsyncIterable<ProviderDelta[]>): Promise<ProviderDelta[]> {
  const all: ProviderDelta[] = [];
  for await (const deltas of stream) all.push(...deltas);
  return all;
}

describe('bedrock', () => {
  const bedrock = (given: object = {}) =>
    providerOf(testSettings({}), {
      kind: 'bedrock',
      name: 'my-bedrock',
      baseUrl: upstream.url,
      apiKey: 'bedrock-key',
      models: ['vendor.model-v1:0'],
      ...given,
    });
  const USAGE = {
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 18,
    cacheReadInputTokens: 2,
    cacheWriteInputTokens: 1,
  };

  test('writes a conversation as it takes it, and reads the answer', async () => {
    upstream.answer((_request, response) =>
      replyJson(response, {
        output: {
          message: {
            role: 'assistant',
            content: [
              { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
              { text: 'Let me look.' },
              { toolUse: { toolUseId: 't2', name: 'look', input: { where: 'there' } } },
            ],
          },
        },
        stopReason: 'tool_use',
        usage: USAGE,
      }),
    );
    const provider = bedrock();
    const answer = await provider.chat('vendor.model-v1:0', {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'file', file: { filename: 'a_b.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
          ],
        },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 't1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 't1', content: 'gone', is_error: true },
        { role: 'user', content: 'And now?' },
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } }],
      tool_choice: 'required',
      temperature: 1.5,
      stop: 'END',
      response_format: { type: 'json_schema', json_schema: { name: 'found', schema: { type: 'object' } } },
    });
    const { path, headers, body } = upstream.requests.at(-1)!;
    assert.deepEqual([path, headers.authorization], ['/model/vendor.model-v1%3A0/converse', 'Bearer bedrock-key']);
    assert.deepEqual(body, {
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default' } }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'See' },
            { image: { format: 'png', source: { bytes: 'AAAA' } } },
            { document: { format: 'pdf', name: 'a b', source: { bytes: 'BBBB' } } },
          ],
        },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 't1', name: 'look', input: { a: 1 } } }] },
        {
          role: 'user',
          content: [
            { toolResult: { toolUseId: 't1', content: [{ text: 'gone' }], status: 'error' } },
            { text: 'And now?' },
          ],
        },
      ],
      inferenceConfig: { temperature: 1, stopSequences: ['END'] },
      toolConfig: {
        tools: [{ toolSpec: { name: 'look', description: 'Looks', inputSchema: { json: { type: 'object' } } } }],
        toolChoice: { any: {} },
      },
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: '{"type":"object"}', name: 'found' } } },
      },
    });
    assert.deepEqual(answer, {
      message: {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [{ id: 't2', type: 'function', function: { name: 'look', arguments: '{"where":"there"}' } }],
        thoughts: [{ text: 'Hm.', signature: 'sig' }],
      },
      finishReason: 'tool_calls',
      usage: {
        prompt_tokens: 13,
        completion_tokens: 5,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 1 },
      },
    });
    await provider.close();
  });

  test('reads a stream that is cut at any byte', async () => {
    const bytes = Buffer.concat([
      frame('messageStart', { role: 'assistant' }),
      frame('contentBlockDelta', { delta: { reasoningContent: { text: 'Hm' } }, contentBlockIndex: 0 }),
      frame('contentBlockDelta', { delta: { text: 'Grüß ' }, contentBlockIndex: 1 }),
      frame('contentBlockDelta', { delta: { text: 'dich' }, contentBlockIndex: 1 }),
      frame('contentBlockStart', { start: { toolUse: { toolUseId: 't1', name: 'a' } }, contentBlockIndex: 2 }),
      frame('contentBlockDelta', { delta: { toolUse: { input: '{"x":' } }, contentBlockIndex: 2 }),
      frame('contentBlockDelta', { delta: { toolUse: { input: '1}' } }, contentBlockIndex: 2 }),
      frame('contentBlockStop', { contentBlockIndex: 2 }),
      frame('contentBlockStart', { start: { toolUse: { toolUseId: 't2', name: 'b' } }, contentBlockIndex: 3 }),
      frame('contentBlockStop', { contentBlockIndex: 3 }),
      frame('messageStop', { stopReason: 'tool_use' }),
      frame('metadata', { usage: USAGE, metrics: { latencyMs: 1 } }),
    ]);
    const provider = bedrock();
    for (const size of [1, 7, 50, bytes.length]) {
      upstream.answer(async (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
        for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
        response.end();
      });
      const deltas = await read(provider.stream('vendor.model-v1:0', ASK));
      assert.match(upstream.requests.at(-1)!.path, /converse-stream$/);
      assert.equal(deltas.map(({ content = '' }) => content).join(''), 'Grüß dich');
      const calls = deltas.flatMap(({ toolCalls = [] }) => toolCalls);
      const args = (index: number) =>
        calls
          .filter((call) => call.index === index)
          .map((call) => call.function?.arguments ?? '')
          .join('');
      assert.deepEqual([args(0), args(1)], ['{"x":1}', '{}']);
      assert.deepEqual(
        deltas.flatMap(({ thoughts = [] }) => thoughts),
        [{ index: 0, text: 'Hm' }],
      );
      assert.equal(deltas.find(({ finishReason }) => finishReason)?.finishReason, 'tool_calls');
      assert.equal(deltas.at(-1)?.usage?.total_tokens, 18);
    }
    await provider.close();
  });

  test('a stream that breaks off, is damaged, huge or an error is a fault of the provider', async () => {
    const provider = bedrock();
    const damaged = frame('contentBlockDelta', { delta: { text: 'x' }, contentBlockIndex: 0 });
    damaged.writeUInt8(damaged.readUInt8(40) ^ 1, 40);
    const huge = Buffer.alloc(12);
    huge.writeUInt32BE(0x7f_ff_ff_ff, 0);
    huge.writeUInt32BE(crc32(huge.subarray(0, 8)), 8);
    const cases: [Buffer, RegExp][] = [
      [frame('contentBlockDelta', { delta: { text: 'half' }, contentBlockIndex: 0 }), /ended in the middle/],
      [damaged, /damaged/],
      [huge, /2147483647 bytes/],
      [Buffer.from('<html>not a stream at all</html>'), /no stream of events/],
      [frame('throttlingException', { message: 'Too many' }, 'exception'), /throttlingException: Too many/],
    ];
    for (const [bytes, told] of cases) {
      upstream.answer((_request, response) => void response.writeHead(200).end(bytes));
      await assert.rejects(
        read(provider.stream('m', ASK)),
        (error) => error instanceof ProviderError && told.test(error.message),
      );
    }
    await provider.close();
  });

  test('signs as Amazon’s own client does', () => {
    const { authorization } = amazonSigned(
      {
        method: 'POST',
        url: new URL('https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.vendor.model-v1%3A0/converse'),
        headers: { 'content-type': 'application/json' },
        body: '{"messages":[]}',
        at: new Date('2026-01-02T03:04:05Z'),
      },
      {
        service: 'bedrock',
        region: 'eu-central-1',
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        sessionToken: 'session',
      },
    );
    assert.match(authorization ?? '', /Signature=1f2943d167ddab5b5af666ffee570964ec3af66d1935a7adc7b295a63ddd0642$/);
  });

  test('an access key signs each request', async () => {
    upstream.answer((_request, response) =>
      replyJson(response, {
        output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
        stopReason: 'end_turn',
      }),
    );
    const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
    const provider = bedrock({ apiKey: `ASIAIOSFODNN7EXAMPLE:${secret}:session` });
    await provider.chat('vendor.model-v1:0', ASK);
    const { path, headers, body } = upstream.requests.at(-1)!;
    const stamp = String(headers['x-amz-date']);
    const at = new Date(stamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    const again = amazonSigned(
      {
        method: 'POST',
        url: new URL(upstream.url + path),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        at,
      },
      {
        service: 'bedrock',
        region: 'us-east-1',
        accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
        secretAccessKey: secret,
        sessionToken: 'session',
      },
    );
    assert.equal(headers.authorization, again['authorization']);
    assert.equal(headers['x-amz-security-token'], 'session');
    await provider.close();
  });

  test('what it cannot take is said, and is the caller’s to change', async () => {
    const provider = bedrock();
    const ask = (part: object): Promise<unknown> =>
      provider.chat('m', { messages: [{ role: 'user', content: [part] }] } as unknown as ChatRequest);
    const refused = (text: RegExp) => (error: unknown) =>
      error instanceof ProviderError && error.callersFault && text.test(error.detail);
    await assert.rejects(
      async () => ask({ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }),
      refused(/not by an address/),
    );
    await assert.rejects(
      async () => ask({ type: 'image_url', image_url: { url: 'data:image/bmp;base64,AA' } }),
      refused(/does not take image\/bmp/),
    );
    await provider.close();
  });
});
