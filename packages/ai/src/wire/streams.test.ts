import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventReader } from '@troupe/contract';
import { BUILT_IN_CATALOGUE } from '@troupe/domain';
import { silentLog } from '@troupe/kernel';
import fc from 'fast-check';
import { createAi } from '../ai.ts';
import { ProviderError } from '../errors.ts';
import type { Provider, ProviderDelta, Wire } from '../provider.ts';
import { withoutRepeats } from '../repeats.ts';
import type { ChatResult } from '../types.ts';
import { anthropicWire } from './anthropic.ts';
import { chatResult, piecesOf } from './arbitraries.ts';
import { bedrockWire } from './bedrock.ts';
import { chatFace } from './chat-face.ts';
import type { Face } from './face.ts';
import { messagesFace } from './messages-face.ts';
import { openaiWire } from './openai.ts';
import { responsesFace } from './responses-face.ts';
import { amazonFrame, chunksOf, collect, cuts, meaning, plain } from './testing.ts';

/** From every format that providers speak to every one that clients speak: a stream, cut at any byte on both sides. */

const context = { body: { input: 'x', stream_options: { include_usage: true } } as never, created: 1 };

const bytesOf = (face: Face<never>, result: ChatResult, at: number, mixed: boolean): Buffer => {
  const writer = face.writer(context);
  const pieces = piecesOf(result, at, mixed).map((piece) => writer.write([piece]));
  return Buffer.from(pieces.join(''));
};

const STOPS = { stop: 'end_turn', tool_calls: 'tool_use', length: 'max_tokens', content_filter: 'content_filtered' };

/** The blocks of an answer, one after the other, as Amazon numbers them. */
function amazonBytes({ message, finishReason, usage }: ChatResult): Buffer {
  const halves = (text: string): string[] => [text.slice(0, 2), text.slice(2)].filter((part) => part !== '');
  const blocks: [start: object | undefined, deltas: object[]][] = [
    ...(message.thoughts ?? []).map(({ text, signature, redacted }): [undefined, object[]] => [
      undefined,
      redacted === undefined
        ? [...halves(text).map((part) => ({ text: part })), { signature }].map((one) => ({ reasoningContent: one }))
        : [{ reasoningContent: { redactedContent: redacted } }],
    ]),
    [undefined, halves(message.content ?? '').map((text) => ({ text }))],
    ...(message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }): [object, object[]] => [
      { toolUse: { toolUseId: id, name } },
      halves(args).map((input) => ({ toolUse: { input } })),
    ]),
  ];
  const { cached_tokens: read = 0, cache_write_tokens: written = 0 } = usage.prompt_tokens_details ?? {};
  const inputTokens = usage.prompt_tokens - read - written;
  const counts = { inputTokens, cacheReadInputTokens: read, cacheWriteInputTokens: written };
  return Buffer.concat([
    amazonFrame('messageStart', { role: 'assistant' }),
    ...blocks.flatMap(([start, deltas], contentBlockIndex) => [
      ...(start ? [amazonFrame('contentBlockStart', { contentBlockIndex, start })] : []),
      ...deltas.map((delta) => amazonFrame('contentBlockDelta', { contentBlockIndex, delta })),
      amazonFrame('contentBlockStop', { contentBlockIndex }),
    ]),
    amazonFrame('messageStop', { stopReason: STOPS[finishReason] }),
    amazonFrame('metadata', { usage: { ...counts, outputTokens: usage.completion_tokens } }),
  ]);
}

type Encode = (result: ChatResult, at: number, mixed: boolean) => Buffer;
/** `end`: where what says that the answer is whole begins. */
const UPSTREAM: [name: string, wire: Wire, encode: Encode, end: (bytes: Buffer) => number][] = [
  [
    'chat completions',
    openaiWire,
    (...given) => bytesOf(chatFace as Face<never>, ...given),
    (bytes) => bytes.lastIndexOf('"finish_reason":"'),
  ],
  [
    'messages',
    anthropicWire,
    (...given) => bytesOf(messagesFace as Face<never>, ...given),
    (bytes) => bytes.lastIndexOf('event: message_stop'),
  ],
  ['Bedrock', bedrockWire, amazonBytes, (bytes) => bytes.lastIndexOf(':event-type') - 13],
];

const FACES: [name: string, face: Face<never>, isWhole: RegExp][] = [
  ['chat completions', chatFace as Face<never>, /"finish_reason":"|\[DONE\]/],
  ['messages', messagesFace as Face<never>, /event: message_stop/],
  ['responses', responsesFace as Face<never>, /event: response\.(?:completed|incomplete)/],
];

/** What a provider would give, of bytes that came in these chunks. */
async function* read(wire: Wire, chunks: Buffer[]): AsyncGenerator<ProviderDelta[]> {
  const events = wire.events?.() ?? createEventReader();
  const reader = wire.streamReader();
  const each = withoutRepeats(reader.read);
  try {
    for (const chunk of [...chunks, undefined]) {
      const found = chunk ? events.push(chunk) : events.end();
      yield found.map(({ data }) => each(data)).filter((delta) => delta !== undefined);
    }
  } catch (error) {
    throw new ProviderError('openrouter', 'broken', String(error));
  }
  if (!reader.complete()) throw new ProviderError('openrouter', 'broken', 'the stream ended in the middle');
}

let coming: () => AsyncGenerator<ProviderDelta[]>;
const provider = {
  name: 'openrouter',
  stream: () => coming(),
  models: () => Promise.resolve([]),
  chat: () => Promise.reject(new Error('not asked')),
  close: () => Promise.resolve(),
} satisfies Provider;
const ai = createAi({ providers: [provider], catalogue: BUILT_IN_CATALOGUE, log: silentLog });

/** What a client is sent. */
async function through(face: Face<never>, deltas: () => AsyncGenerator<ProviderDelta[]>): Promise<string> {
  coming = deltas;
  const writer = face.writer(context);
  let text = '';
  try {
    const request = { model: 'xiaomi/mimo-v2-pro', messages: [{ role: 'user' as const, content: 'Hi' }] };
    for await (const batch of ai.batches(request)) text += writer.write(batch);
  } catch (error) {
    text += writer.fail({ status: 502, message: String(error) });
  }
  return text;
}

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

interface Response {
  output: Record<string, unknown>[];
  status: string;
  usage: unknown;
}

function responseOf(text: string, where: readonly number[]): Response {
  const events = createEventReader();
  const found = chunksOf(Buffer.from(text), where).flatMap((chunk) => events.push(chunk));
  return (JSON.parse(found.at(-1)!.data) as { response: Response }).response;
}

const shown = ({ output, status, usage }: Response) => ({
  output: output.map((item) => ({ ...item, id: undefined })),
  status,
  usage,
});

/** What a client of that protocol takes the stream for, and what it should be. */
function asRead(name: string, text: string, where: readonly number[], result: ChatResult): [unknown, unknown] {
  if (name === 'responses') {
    const meant = plain(responsesFace.reply(result, context)) as Response;
    return [shown(responseOf(text, where)), shown(meant)];
  }
  const wire = name === 'messages' ? anthropicWire : openaiWire;
  const { complete, meaning: told } = collect(wire, Buffer.from(text), where);
  return [
    [complete, told],
    [true, meaning(result)],
  ];
}

for (const [from, wire, encode, end] of UPSTREAM)
  for (const [to, face, isWhole] of FACES)
    describe(`from ${from} to ${to}`, () => {
      it('a stream says what was meant, wherever it is cut', async () => {
        await fc.assert(
          fc.asyncProperty(chatResult, share, fc.boolean(), cuts, cuts, async (result, at, mixed, before, after) => {
            const chunks = chunksOf(encode(result, at, mixed), before);
            const text = await through(face, () => read(wire, chunks));
            const [told, meant] = asRead(to, text, after, result);
            assert.deepEqual(told, meant);
          }),
        );
      });

      it('one that breaks off is an error, and never an end', async () => {
        await fc.assert(
          fc.asyncProperty(chatResult, share, cuts, async (result, at, where) => {
            const bytes = encode(result, 0.5, false);
            const half = bytes.subarray(0, Math.floor(at * end(bytes)));
            const text = await through(face, () => read(wire, chunksOf(half, where)));
            assert.doesNotMatch(text, isWhole);
            assert.match(text, /ended in the middle|Error/);
          }),
        );
      });
    });
