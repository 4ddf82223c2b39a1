import fc from 'fast-check';
import type { ChatDelta, ChatMessage, ChatRequest, ChatResult, Part, Thought, ToolCall } from '../types.ts';

/** Conversations, answers and the pieces that they come in, for tests of what is translated. */

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).filter((text) => text.isWellFormed());
const base64 = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'));
const address = fc.webUrl();
const mark = fc.option(fc.constantFrom({ type: 'ephemeral' as const }, { type: 'ephemeral' as const, ttl: '1h' }), {
  nil: undefined,
});
const marked = (part: Part, cache: Part['cache_control']): Part => (cache ? { ...part, cache_control: cache } : part);

const picture = fc
  .oneof(
    base64.map((data) => `data:image/png;base64,${data}`),
    address,
  )
  .map((url): Part => ({ type: 'image_url', image_url: { url } }));
const file = fc.record({ filename: word, data: base64 }).map(({ filename, data }): Part => ({
  type: 'file',
  file: { filename, file_data: `data:application/pdf;base64,${data}` },
}));
const textPart = word.map((text): Part => ({ type: 'text', text }));
const shown = fc.oneof(textPart, picture, file);

/** One text alone would be written without parts. */
const parts = (cached: boolean) =>
  fc
    .array(cached ? fc.tuple(shown, mark).map(([part, cache]) => marked(part, cache)) : shown, {
      minLength: 2,
      maxLength: 4,
    })
    .map((list): Part[] => list);

const json = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(word, fc.integer(), fc.boolean()), {
  maxKeys: 3,
});
const toolName = fc.stringMatching(/^[a-z_]{1,10}$/);
const call = (id: string) =>
  fc.record({ name: toolName, input: json }).map(({ name, input }): ToolCall => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
const calls = fc.integer({ min: 0, max: 3 }).chain((count) => {
  return fc.tuple(...Array.from({ length: count }, (_, index) => call(`call_${index}`)));
});
/** As Anthropic has them: either readable and signed, or not readable. */
const thought: fc.Arbitrary<Thought> = fc.oneof(
  fc.record({ text: word, signature: word }),
  word.map((redacted) => ({ text: '', redacted })),
);
const thoughts = fc.array(thought, { maxLength: 2 });

interface Said {
  content: string;
  calls: ToolCall[];
  thoughts: Thought[];
}

const spoken: fc.Arbitrary<Said> = fc
  .record({ content: fc.oneof(word, fc.constant('')), calls, thoughts })
  .filter(({ content, calls: made }) => content !== '' || made.length > 0);

const assistant = ({ content, calls: made, thoughts: had }: Said) => ({
  role: 'assistant' as const,
  content: content === '' ? null : content,
  ...(made.length > 0 ? { tool_calls: made } : {}),
  ...(had.length > 0 ? { thoughts: had } : {}),
});

/** A question, an answer, and the results of what it called. */
const exchange = (cached: boolean) =>
  fc
    .record({
      asked: fc.oneof(word, parts(cached)),
      answer: spoken,
      results: fc.array(fc.oneof(word, parts(cached)), { minLength: 3, maxLength: 3 }),
      failed: fc.boolean(),
      cache: mark,
    })
    .map(({ asked, answer, results, failed, cache }): ChatMessage[] => [
      { role: 'user', content: asked },
      assistant(
        cached && cache
          ? { ...answer, calls: answer.calls.map((made) => ({ ...made, cache_control: cache })) }
          : answer,
      ),
      ...answer.calls.map(({ id }, index): ChatMessage => ({
        role: 'tool',
        tool_call_id: id,
        content: results[index]!,
        ...(cached && failed ? { is_error: true } : {}),
      })),
    ]);

const parameters = { type: 'object', properties: {}, additionalProperties: false };
const tools = fc
  .tuple(fc.uniqueArray(toolName, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([names, isStrict]) =>
    names.map((name) => ({
      type: 'function' as const,
      function: { name, description: `Does ${name}`, parameters, ...(isStrict ? { strict: true } : {}) },
    })),
  );

/** In a conversation no id is there twice. */
function numbered(message: ChatMessage, turn: number): ChatMessage {
  if (message.role === 'tool') return { ...message, tool_call_id: `${message.tool_call_id}-${turn}` };
  if (message.role !== 'assistant' || !message.tool_calls) return message;
  return { ...message, tool_calls: message.tool_calls.map((made) => ({ ...made, id: `${made.id}-${turn}` })) };
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** `cached`: with marks for the cache and failed results, which only some formats have. */
export const chatRequest = (cached: boolean): fc.Arbitrary<ChatRequest> =>
  fc
    .record({
      system: maybe(word),
      turns: fc.array(exchange(cached), { minLength: 1, maxLength: 3 }),
      last: word,
      tools: maybe(tools),
      max_tokens: fc.integer({ min: 1, max: 100_000 }),
      temperature: maybe(fc.constantFrom(0, 0.5, 1)),
      tool_choice: maybe(fc.constantFrom('auto' as const, 'required' as const, 'none' as const)),
    })
    .map(({ system, turns, last, tool_choice: choice, ...rest }) => {
      const messages: ChatMessage[] = [
        ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
        ...turns.flatMap((turn, index) => turn.map((message) => numbered(message, index))),
        { role: 'user', content: last },
      ];
      const request = { model: 'some/model', messages, ...rest, ...(rest.tools && { tool_choice: choice }) };
      return JSON.parse(JSON.stringify(request)) as ChatRequest;
    });

const count = fc.integer({ min: 1, max: 1_000_000 });

export const chatResult: fc.Arbitrary<ChatResult> = fc
  .record({
    said: spoken,
    reason: fc.constantFrom('stop', 'length', 'content_filter'),
    prompt: count,
    rest: count,
    share: fc.tuple(fc.double({ min: 0, max: 0.5, noNaN: true }), fc.double({ min: 0, max: 0.5, noNaN: true })),
  })
  .map(({ said, reason, prompt, rest, share }) => {
    const [cached, written] = share.map((each) => Math.floor(prompt * each)) as [number, number];
    return {
      id: 'chatcmpl-1',
      model: 'some/model',
      provider: 'some',
      message: assistant(said),
      finishReason: said.calls.length > 0 ? 'tool_calls' : (reason as 'stop'),
      usage: {
        prompt_tokens: prompt,
        completion_tokens: rest,
        total_tokens: prompt + rest,
        ...(cached + written > 0
          ? { prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written } }
          : {}),
      },
      usageEstimated: false,
      costMicros: 1,
    };
  });

/** Anywhere: some providers cut a character in two. */
const cut = (text: string, at: number): [string, string] => {
  const place = Math.floor(text.length * at);
  return [text.slice(0, place), text.slice(place)];
};

/** The answer in pieces, the pieces of calls mixed as some providers mix them. */
export function piecesOf(
  { message, finishReason, usage, ...rest }: ChatResult,
  at: number,
  isMixed: boolean,
): ChatDelta[] {
  const head = { id: rest.id, model: rest.model, provider: rest.provider };
  const made = message.tool_calls ?? [];
  const halves = made.map((call) => cut(call.function.arguments, at));
  const begin = made.map(({ id, function: { name } }, index) => ({
    ...head,
    toolCalls: [{ index, id, type: 'function' as const, function: { name, arguments: halves[index]![0] } }],
  }));
  const go = made.map((_, index) => ({
    ...head,
    toolCalls: [{ index, function: { arguments: halves[index]![1] } }],
  }));
  const mixed = isMixed ? [...begin, ...go] : begin.flatMap((one, index) => [one, go[index]!]);
  return [
    ...(message.thoughts ?? []).flatMap(({ text, signature, redacted }, index): ChatDelta[] =>
      redacted === undefined
        ? [
            ...cut(text, at).map((piece) => ({ ...head, thoughts: [{ index, text: piece }] })),
            { ...head, thoughts: [{ index, signature }] },
          ]
        : [{ ...head, thoughts: [{ index, text: '', redacted }] }],
    ),
    ...cut(message.content ?? '', at).map((content) => ({ ...head, content })),
    ...mixed,
    { ...head, finishReason, usage, usageEstimated: false, costMicros: 1 },
  ];
}
