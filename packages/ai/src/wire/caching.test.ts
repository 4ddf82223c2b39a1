import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backend, type TypesOf } from '@troupe/contract';
import type { ChatRequest } from '../types.ts';
import { anthropicWire } from './anthropic.ts';
import { bedrockWire } from './bedrock.ts';
import { messagesFace } from './messages-face.ts';
import { openaiWire } from './openai.ts';
import { canBeHeld } from './strict.ts';

/** What a caller of Anthropic's messages marks for the cache, and wants to be held to. */

type Body = TypesOf<typeof backend.v1.createMessage>['body'];
const MARK = { type: 'ephemeral' };
const asked = (body: object): ChatRequest =>
  messagesFace.request(
    backend.v1.createMessage.body!.parse({ model: 'm', max_tokens: 100, cache_control: MARK, ...body }) as Body,
  );
const user = (content: unknown) => ({ role: 'user', content });
const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] };
const last = (request: ChatRequest): unknown =>
  (anthropicWire.body('anthropic', 'm', request, false)['messages'] as { content: unknown[] }[]).at(-1)!.content.at(-1);

describe('a mark of the whole prompt', () => {
  it('is one of its last block, whatever that is', () => {
    assert.deepEqual(last(asked({ messages: [user('Hi')] })), { type: 'text', text: 'Hi', cache_control: MARK });
    const result = { type: 'tool_result', tool_use_id: 'c', content: 'done' };
    assert.deepEqual(last(asked({ messages: [user('Hi'), use, user([result])] })), {
      ...result,
      content: [{ type: 'text', text: 'done', cache_control: MARK }],
    });
    assert.deepEqual(last(asked({ messages: [user('Hi'), use] })), { ...use.content[0], cache_control: MARK });
  });

  it('gives way to the mark that is there, and to none where nothing is said', () => {
    const own = { type: 'text', text: 'Hi', cache_control: { ...MARK, ttl: '1h' } };
    assert.deepEqual(last(asked({ messages: [user([own])] })), own);
    const silent = { role: 'assistant', content: '' };
    assert.deepEqual(last(asked({ messages: [user('Hi'), silent] })), {
      type: 'text',
      text: 'Hi',
      cache_control: MARK,
    });
  });

  it('reaches Bedrock, and no provider that does not know it', () => {
    const request = asked({ messages: [user('Hi'), use, user([{ type: 'tool_result', tool_use_id: 'c' }])] });
    const { messages } = bedrockWire.body('bedrock', 'm', asked({ messages: [user('Hi'), use] }), false) as {
      messages: { content: object[] }[];
    };
    assert.deepEqual(messages.at(-1)!.content.at(-1), { cachePoint: { type: 'default' } });
    for (const given of [request, asked({ messages: [user('Hi'), use] })])
      assert.doesNotMatch(JSON.stringify(openaiWire.body('openai', 'm', given, false)), /cache_control/);
  });
});

describe('strict', () => {
  const parameters = { type: 'object', properties: { minimum: { type: 'string' } }, additionalProperties: false };
  const sent = (schema: object) => {
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters: schema as never, strict: true } }];
    const request: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], tools };
    return (anthropicWire.body('anthropic', 'm', request, false)['tools'] as { strict?: true }[])[0]!.strict;
  };

  it('of a tool is passed on, to Anthropic where it can hold a call to the schema', () => {
    const tools = [{ name: 'f', input_schema: parameters, strict: true }];
    const { tools: read } = asked({ messages: [user('Hi')], tools });
    assert.equal(read![0]!.function.strict, true);
    assert.equal(sent(parameters), true);
    for (const more of [{ minLength: 1 }, { type: 'object' }, { items: { oneOf: [] } }, { minItems: 2 }, { $ref: '#' }])
      assert.equal(sent({ ...parameters, properties: { a: more } }), undefined, JSON.stringify(more));
  });

  it('is looked at without end neither in depth nor in width', () => {
    let deep: object = { type: 'string' };
    for (let depth = 0; depth < 100_000; depth += 1) deep = { items: deep };
    assert.equal(canBeHeld(deep), false);
    assert.equal(canBeHeld({ anyOf: Array.from({ length: 6_000 }, () => ({ type: 'string' })) }), false);
    assert.equal(canBeHeld({ anyOf: [{ type: 'string' }, { const: { minimum: 1 } }] }), true);
  });
});
