import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backend, type Endpoint } from '@troupe/contract';
import fc from 'fast-check';
import type { Wire } from '../provider.ts';
import { createEventReader } from '@troupe/contract';
import type { ChatMessage, ChatRequest, ChatResult, Part } from '../types.ts';
import { anthropicWire } from './anthropic.ts';
import { chatRequest, chatResult, piecesOf } from './arbitraries.ts';
import { chatFace } from './chat-face.ts';
import type { Face } from './face.ts';
import { messagesFace } from './messages-face.ts';
import { openaiWire } from './openai.ts';
import { seal } from './responses-items.ts';
import { responsesFace } from './responses-face.ts';
import { collect, cuts, meaning, plain } from './testing.ts';

/** Whatever is said in one format and read in the other is what was meant. Bodies pass the schema that callers meet. */

const parsed = (endpoint: Endpoint, body: unknown): never => {
  const read = endpoint.body!.safeParse(JSON.parse(JSON.stringify(body)));
  assert.ok(read.success, read.error?.message);
  return read.data as never;
};
const context = { body: { stream_options: { include_usage: true } } as never, created: 1 };

const BOTH: [name: string, face: Face<never>, wire: Wire][] = [
  ['chat completions', chatFace as Face<never>, openaiWire],
  ['messages', messagesFace as Face<never>, anthropicWire],
];

for (const [name, face, wire] of BOTH)
  describe(`an answer in the format of ${name}`, () => {
    it('says whole what was meant', () => {
      fc.assert(
        fc.property(chatResult, (result) => {
          const read = wire.reply(plain(face.reply(result, context)));
          assert.deepEqual(meaning(read as ChatResult), meaning(result));
        }),
      );
    });

    it('says in a stream what was meant, wherever it is cut', () => {
      fc.assert(
        fc.property(
          chatResult,
          fc.double({ min: 0, max: 1, noNaN: true }),
          fc.boolean(),
          cuts,
          (result, at, mixed, where) => {
            const writer = face.writer(context);
            const bytes = Buffer.from(
              piecesOf(result, at, mixed)
                .map((piece) => writer.write([piece]))
                .join(''),
            );
            const read = collect(wire, bytes, where);
            assert.deepEqual([read.complete, read.meaning], [true, meaning(result)]);
          },
        ),
      );
    });

    it('is never taken for whole when its stream breaks off', () => {
      fc.assert(
        fc.property(chatResult, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (result, at) => {
          const writer = face.writer({ ...context, body: {} as never });
          const text = piecesOf(result, 0.5, false)
            .map((piece) => writer.write([piece]))
            .join('');
          const end = Math.max(text.lastIndexOf('"finish_reason":"'), text.lastIndexOf('event: message_stop'));
          const bytes = Buffer.from(text.slice(0, end));
          const half = bytes.subarray(0, Math.floor(at * bytes.length));
          let complete: boolean;
          try {
            ({ complete } = collect(wire, half, []));
          } catch (error) {
            // Half an event: who reads it calls the answer broken.
            assert.ok(error instanceof SyntaxError || error instanceof TypeError, String(error));
            complete = false;
          }
          assert.equal(complete, false);
        }),
      );
    });
  });

describe('a request', () => {
  it('in the format of messages means the same', () => {
    fc.assert(
      fc.property(chatRequest(true), (request) => {
        const body = parsed(backend.v1.createMessage, anthropicWire.body('anthropic', request.model!, request, false));
        assert.deepEqual(plain(messagesFace.request(body)), plain(request));
      }),
    );
  });

  it('in the format of chat completions means the same', () => {
    fc.assert(
      fc.property(chatRequest(false), (request) => {
        const body = parsed(
          backend.v1.completeChat,
          openaiWire.body('openrouter', request.model!, onlyText(request), false),
        );
        assert.deepEqual(plain(chatFace.request(body)), plain(onlyText(request)));
      }),
    );
  });

  it('in the format of responses means the same', () => {
    fc.assert(
      fc.property(chatRequest(false), (request) => {
        const { messages, max_tokens: limit, tools, ...rest } = request;
        const body = parsed(backend.v1.createResponse, {
          ...rest,
          max_output_tokens: limit,
          tools: tools?.map(({ type, function: { name, description, parameters, strict } }) => ({
            type,
            name,
            description,
            parameters,
            strict,
          })),
          input: messages.flatMap(itemsOf),
        });
        assert.deepEqual(plain(responsesFace.request(body)), plain(request));
      }),
    );
  });
});

/** There, the results of tools are texts. */
const onlyText = (request: ChatRequest): ChatRequest => ({
  ...request,
  messages: request.messages.map((message) =>
    message.role === 'tool' && typeof message.content !== 'string' ? { ...message, content: 'result' } : message,
  ),
});

const inputPart = (part: Part): object => {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'image_url') return { type: 'input_image', image_url: part.image_url.url, detail: 'auto' };
  return { type: 'input_file', ...part.file };
};
const inputs = (content: string | Part[]) => (typeof content === 'string' ? content : content.map(inputPart));

function itemsOf(message: ChatMessage): object[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output: inputs(message.content) }];
  if (message.role !== 'assistant') return [{ role: message.role, content: inputs(message.content) }];
  return [
    ...(message.thoughts ?? []).map((thought) => ({
      type: 'reasoning',
      id: 'rs_1',
      summary: thought.text ? [{ type: 'summary_text', text: thought.text }] : [],
      encrypted_content: seal(thought),
    })),
    ...(message.content
      ? [
          {
            type: 'message',
            role: 'assistant',
            content: [{ type: 'output_text', text: message.content, annotations: [] }],
          },
        ]
      : []),
    ...(message.tool_calls ?? []).map(({ id, function: made }) => ({ type: 'function_call', call_id: id, ...made })),
  ];
}

describe('an answer in the format of responses', () => {
  interface Event {
    type: string;
    sequence_number: number;
    output_index: number;
    delta: string;
    item: Record<string, unknown>;
    response: { output: Record<string, unknown>[]; status: string; usage: unknown };
  }
  const withoutIds = (items: Record<string, unknown>[]) =>
    items.map((given) => {
      const { id: _, ...item } = given;
      return item;
    });

  it('says in a stream, wherever it is cut, what it says whole', () => {
    fc.assert(
      fc.property(chatResult, fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean(), (result, at, mixed) => {
        const at0 = { body: { input: 'x' } as never, created: 1 };
        const whole = plain(responsesFace.reply(result, at0)) as Event['response'];
        const writer = responsesFace.writer(at0);
        const bytes = Buffer.from(
          piecesOf(result, at, mixed)
            .map((piece) => writer.write([piece]))
            .join(''),
        );
        const parser = createEventReader();
        const middle = Math.floor(at * bytes.length);
        const data = [...parser.push(bytes.subarray(0, middle)), ...parser.push(bytes.subarray(middle))];
        const events = data.map((one) => JSON.parse(one.data) as Event);
        assert.deepEqual(
          events.map((event) => event.sequence_number),
          events.map((_, index) => index),
        );
        const { response } = events.at(-1)!;
        assert.deepEqual(withoutIds(response.output), withoutIds(whole.output));
        assert.deepEqual([response.status, response.usage], [whole.status, whole.usage]);
        const done = events.filter(({ type }) => type === 'response.output_item.done');
        assert.deepEqual(
          done.map(({ item }) => item),
          response.output,
        );
        for (const { output_index: place, item } of done) {
          const pieces = events.filter(({ type, output_index: index }) => index === place && type.endsWith('.delta'));
          const said = pieces.map(({ delta }) => delta).join('');
          const [part] = (item['content'] ?? item['summary'] ?? []) as { text: string }[];
          assert.equal(said, part?.text ?? item['arguments'] ?? '');
        }
      }),
    );
  });

  it('counts what was cached and thought', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 6,
      total_tokens: 16,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    const [result] = fc.sample(chatResult, 1);
    const { usage: told } = responsesFace.reply({ ...result!, usage }, { body: { input: 'x' } as never, created: 1 });
    assert.deepEqual(told, {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 6,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 16,
    });
  });
});
