import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChatDelta, ChatRequest, ChatResult } from '../types.ts';
import { anthropicWire } from './anthropic.ts';
import { bedrockWire } from './bedrock.ts';
import { chatFace } from './chat-face.ts';
import type { Face } from './face.ts';
import { messagesFace } from './messages-face.ts';
import { openaiWire } from './openai.ts';
import { responsesFace } from './responses-face.ts';

/** That a model says why it does not answer stays told apart from an answer, in every format that can. */

const NO = 'I cannot help with that.';
const head = { id: 'chatcmpl-1', model: 'm', provider: 'openai' };
const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
const choice = { index: 0, finish_reason: 'stop' };

function whole(face: Face<never>) {
  const read = openaiWire.reply({ choices: [{ ...choice, message: { content: null, refusal: NO } }], usage });
  const result = { ...head, ...read, usage, usageEstimated: false, costMicros: 1 } satisfies ChatResult;
  return face.reply(result, { body: { input: 'x' } as never, created: 1 });
}

function streamed(face: Face<never>): Record<string, unknown>[] {
  const reader = openaiWire.streamReader();
  const events = [
    { choices: [{ delta: { refusal: NO.slice(0, 8) } }] },
    { choices: [{ delta: { refusal: NO.slice(8) } }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }], usage },
  ];
  const writer = face.writer({ body: { input: 'x' } as never, created: 1 });
  return events
    .map((event) => writer.write([{ ...head, ...reader.read(JSON.stringify(event)) } as ChatDelta]))
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>);
}

describe('a refusal', () => {
  it('is one of chat completions', () => {
    const { choices } = whole(chatFace as Face<never>) as { choices: { message: object }[] };
    assert.deepEqual(choices[0]!.message, { role: 'assistant', content: null, refusal: NO });
    const deltas = streamed(chatFace as Face<never>).map(
      ({ choices: said }) => (said as { delta: { refusal?: string; content?: string } }[])[0]!.delta,
    );
    assert.equal(deltas.map(({ refusal = '' }) => refusal).join(''), NO);
    assert.ok(deltas.every(({ content }) => content === undefined));
  });

  it('is one of responses', () => {
    type Answer = { output: { content: object[] }[] };
    const part = { type: 'refusal', refusal: NO };
    assert.deepEqual((whole(responsesFace as Face<never>) as unknown as Answer).output[0]!.content, [part]);
    const events = streamed(responsesFace as Face<never>);
    const of = (type: string) => events.filter((event) => event['type'] === type);
    assert.equal(
      of('response.refusal.delta')
        .map(({ delta }) => delta)
        .join(''),
      NO,
    );
    assert.equal(of('response.refusal.done')[0]!['refusal'], NO);
    assert.equal(of('response.output_text.delta').length, 0);
    assert.deepEqual((of('response.completed')[0]!['response'] as Answer).output[0]!.content, [part]);
  });

  it('is how a message ends', () => {
    const { content, stop_reason: reason } = whole(messagesFace as Face<never>);
    assert.deepEqual([content, reason], [[{ type: 'text', text: NO }], 'refusal']);
    const end = streamed(messagesFace as Face<never>).find(({ type }) => type === 'message_delta');
    assert.equal((end!['delta'] as { stop_reason: string }).stop_reason, 'refusal');
  });

  it('is none beside an answer', () => {
    const read = openaiWire.reply({ choices: [{ ...choice, message: { content: 'Yes.', refusal: '' } }] });
    assert.deepEqual(read.message, { role: 'assistant', content: 'Yes.' });
  });
});

it('that any JSON is wanted is said in words where there is no other way', () => {
  const messages = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'Hi' },
  ];
  const request: ChatRequest = { model: 'm', messages, response_format: { type: 'json_object' } };
  assert.match(String(anthropicWire.body('anthropic', 'm', request, false)['system']), /^Be brief\.\n\n.*JSON object/);
  assert.match(JSON.stringify(bedrockWire.body('bedrock', 'm', request, false)['system']), /JSON object/);
  const plain = { ...request, response_format: { type: 'text' } };
  assert.equal(anthropicWire.body('anthropic', 'm', plain, false)['system'], 'Be brief.');
});
