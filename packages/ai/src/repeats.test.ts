import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ProviderDelta } from './provider.ts';
import { withoutRepeats } from './repeats.ts';
import { anthropicWire } from './wire/anthropic.ts';
import { openaiWire } from './wire/openai.ts';

const openai = (delta: object, more: object = {}) =>
  JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] });
const anthropic = (text: string) =>
  JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

/** Counts the events that were parsed. */
function counted(read: (data: string) => ProviderDelta | undefined) {
  const parsed: string[] = [];
  const reader = withoutRepeats((data) => {
    parsed.push(data);
    return read(data);
  });
  return { reader, parsed };
}

it('parses the first of many events that differ in their text alone, and tries it out once', () => {
  for (const [read, event] of [
    [openaiWire.streamReader().read, (text: string) => openai({ content: text })],
    [anthropicWire.streamReader().read, anthropic],
  ] as const) {
    const { reader, parsed } = counted(read);
    const words = ['A', ' sea', ' of ', 'wörds', '🌊', ' a'];
    assert.deepEqual(
      words.map((word) => reader(event(word))),
      words.map((content) => ({ content })),
    );
    assert.equal(parsed.length, 2);
  }
});

it('reads what is different as if nothing had been learned', () => {
  const events = [
    openai({ role: 'assistant', content: '' }),
    openai({ content: 'index' }),
    openai({ content: 'id' }),
    openai({ content: 'say "so"' }),
    openai({ content: 'a\\b\nc' }),
    openai({ content: '' }),
    openai({ content: 'é\u0007' }),
    openai({ content: 'x","finish_reason":"stop' }),
    openai({ content: null }),
    openai({ content: 'm', tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{}' } }] }),
    openai({ content: 'end' }, { finish_reason: 'stop' }),
    JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }),
  ];
  const plain = openaiWire.streamReader();
  const read = withoutRepeats(openaiWire.streamReader().read);
  for (const event of events) assert.deepEqual(read(event), plain.read(event), event);
});

it('learns nothing where the same text stands elsewhere too', () => {
  const event = (text: string) => JSON.stringify({ choices: [{ delta: { content: text } }], note: text });
  const read = withoutRepeats(openaiWire.streamReader().read);
  for (const text of ['one', 'two', 'three']) assert.deepEqual(read(event(text)), { content: text });
});

it('goes on to report what cannot be parsed', () => {
  const read = withoutRepeats(openaiWire.streamReader().read);
  read(openai({ content: 'one' }));
  assert.throws(() => read(openai({ content: 'two' }).replace('two', 't\nwo')), SyntaxError);
  assert.throws(() => read(openai({ content: 'two' }).slice(0, -2)), SyntaxError);
});
