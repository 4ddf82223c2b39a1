import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anthropicWire } from './anthropic.ts';
import type { ChatMessage } from '../types.ts';
import { openaiWire } from './openai.ts';

const call = (id: string, more: object = {}) => ({
  id,
  type: 'function' as const,
  function: { name: 'look', arguments: '{}' },
  ...more,
});
const signed = { extra_content: { google: { thought_signature: 'seal' } } };

describe('what Gemini signs', () => {
  const asked = (provider: string, model: string, ...calls: ReturnType<typeof call>[]) => {
    const messages: ChatMessage[] = [
      { role: 'assistant', content: null, tool_calls: calls },
      ...calls.map(({ id }): ChatMessage => ({ role: 'tool', tool_call_id: id, content: 'sea' })),
    ];
    const [first] = openaiWire.body(provider, model, { messages }, false)['messages'] as {
      tool_calls: { extra_content?: object }[];
    }[];
    return first!.tool_calls.map((made) => made.extra_content);
  };

  it('is read, whole and in a stream, and given back to it alone', () => {
    const given = { index: 0, ...call('a', signed) };
    const whole = openaiWire.reply({ choices: [{ message: { tool_calls: [given] }, finish_reason: 'stop' }] });
    assert.deepEqual(whole.message.tool_calls, [call('a', signed)]);
    const piece = openaiWire.streamReader().read(JSON.stringify({ choices: [{ delta: { tool_calls: [given] } }] }));
    assert.deepEqual(piece?.toolCalls?.[0]?.extra_content, signed.extra_content);
    const calls = [call('a', signed), call('b')];
    assert.deepEqual(asked('gemini', 'gemini-3-pro', ...calls), [signed.extra_content, undefined]);
    assert.deepEqual(asked('openai', 'gpt-5', ...calls), [undefined, undefined]);
  });

  it('is said to be missing where nobody has it, to those who ask', () => {
    const none = { google: { thought_signature: 'skip_thought_signature_validator' } };
    const calls = [call('a'), call('b')];
    for (const model of ['gemini-3-flash', 'google/gemini-3.1-pro', 'gemini-10'])
      assert.deepEqual(asked('gemini', model, ...calls), [none, undefined], model);
    for (const model of ['gemini-2.5-flash', 'gemini-1.5-pro', 'gemma-3'])
      assert.deepEqual(asked('gemini', model, ...calls), [undefined, undefined], model);
  });
});

it('ids of calls are what Anthropic takes, and none is there twice; results find theirs', () => {
  const turn = (id: string): ChatMessage[] => [
    { role: 'assistant', content: null, tool_calls: [call(id)] },
    { role: 'tool', tool_call_id: id, content: id },
  ];
  const given = ['functions.look:0', 'functions.look:0', 'call_0', 'call_0', 'call_0-2', '', 'x'.repeat(100)];
  const { messages } = anthropicWire.body('anthropic', 'm', { messages: given.flatMap(turn) }, false) as {
    messages: { content: { id?: string; tool_use_id?: string; content?: string }[] }[];
  };
  const blocks = messages.flatMap(({ content }) => content);
  const ids = blocks.flatMap(({ id }) => id ?? []);
  assert.equal(new Set(ids).size, given.length);
  for (const id of ids) assert.match(id, /^[\w-]{1,64}$/);
  assert.deepEqual(ids.slice(2, 3), ['call_0']);
  assert.deepEqual(
    blocks.flatMap(({ tool_use_id: id, content }) => (id === undefined ? [] : [[id, content]])),
    ids.map((id, index) => [id, given[index]]),
  );
});
