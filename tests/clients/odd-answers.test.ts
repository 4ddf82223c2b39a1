import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import type { StandIn } from '@troupe/ai';
import OpenAI from 'openai';
import { reset, startWorld, type World } from '@troupe/testing/services/world';

/** Providers that keep to no specification, and what the public clients of all three protocols are told. */

let world: World;
let openai: OpenAI;
let anthropic: Anthropic;

before(async () => {
  world = await startWorld();
  const { backend } = world.services;
  openai = new OpenAI({ baseURL: `${backend}/v1`, apiKey: world.user.key, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: backend, apiKey: world.user.key, maxRetries: 0 });
});
beforeEach(() => reset(world));
after(() => world.stop());

const OPENAI = 'openai/gpt-4o-mini';
const CLAUDE = 'claude-opus-4-6';

interface Seen {
  text: string;
  calls: [name: string, input: unknown][];
  /** As chat completions call it. */
  end: string;
  ids: string[];
  tokens: number;
}

const messages = [{ role: 'user' as const, content: 'Hi' }];
const ENDS: Record<string, string> = { end_turn: 'stop', tool_use: 'tool_calls', max_tokens: 'length' };

async function chat(model: string): Promise<Seen> {
  const stream = openai.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
  const { choices, usage } = await stream.finalChatCompletion();
  const [choice] = choices;
  const calls = (choice!.message.tool_calls ?? []).filter((made) => made.type === 'function');
  return {
    text: choice!.message.content ?? '',
    calls: calls.map((made) => [made.function.name, JSON.parse(made.function.arguments) as unknown]),
    end: choice!.finish_reason,
    ids: calls.map(({ id }) => id),
    tokens: usage!.total_tokens,
  };
}

async function message(model: string): Promise<Seen> {
  const made = await anthropic.messages.stream({ model, messages, max_tokens: 100 }).finalMessage();
  const calls = made.content.filter((block) => block.type === 'tool_use');
  return {
    text: made.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: calls.map(({ name, input }) => [name, input]),
    end: ENDS[made.stop_reason ?? ''] ?? '',
    ids: calls.map(({ id }) => id),
    tokens: made.usage.input_tokens + made.usage.output_tokens,
  };
}

async function response(model: string): Promise<Seen> {
  let last: OpenAI.Responses.Response | undefined;
  const deltas: Record<number, string> = {};
  for await (const event of await openai.responses.create({ model, input: 'Hi', stream: true })) {
    if (event.type === 'response.function_call_arguments.delta')
      deltas[event.output_index] = (deltas[event.output_index] ?? '') + event.delta;
    if ('response' in event) last = event.response;
  }
  if (last?.status === 'failed') throw new Error(last.error?.message);
  const { output, output_text: _, usage, incomplete_details: cut, store } = last as typeof last & { store: boolean };
  const calls = output.flatMap((item, place) => (item.type === 'function_call' ? [{ ...item, place }] : []));
  for (const { place, arguments: args } of calls) assert.equal(deltas[place], args);
  // What was said is kept as it was said.
  assert.ok(store);
  assert.deepEqual((await openai.responses.retrieve(last!.id)).output, output);
  const texts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return {
    text: texts.map((part) => ('text' in part ? part.text : '')).join(''),
    calls: calls.map(({ name, arguments: args }) => [name, JSON.parse(args) as unknown]),
    end: cut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
    ids: calls.map((call) => call.call_id),
    tokens: usage!.total_tokens,
  };
}

const CLIENTS = { chat, message, response };

/** Every client sees the same, and ids of calls by which results are told apart. */
function shows(model: string, wanted: Partial<Seen>): void {
  for (const [name, ask] of Object.entries(CLIENTS))
    it(`for ${name}`, async () => {
      const { ids, ...seen } = await ask(model);
      const { tokens = seen.tokens, text = 'Hello', calls = [], end = 'stop' } = wanted;
      assert.deepEqual(seen, { text, calls, end, tokens });
      assert.equal(new Set(ids).size, calls.length);
      for (const id of ids) assert.match(id, /^[\w-]{1,40}$/);
      assert.ok(seen.tokens > 0);
    });
}

function fails(model: string, wanted: RegExp): void {
  for (const [name, ask] of Object.entries(CLIENTS)) it(`for ${name}`, () => assert.rejects(ask(model), wanted));
}

const event = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const say = (delta: unknown, finish?: string, more: object = {}): string =>
  event({ choices: [{ index: 0, delta, ...(finish && { finish_reason: finish }) }], ...more });
const call = (index: number | undefined, id: string | undefined, name?: string, args?: unknown) => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }],
});
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const END = say({}, 'stop', { usage }) + event('[DONE]');

/** What comes first has been passed on when the last of it comes: nobody else can take over any more. */
const BETWEEN_MS = 30;

const answering =
  (provider: () => StandIn) =>
  (name: string, script: string[], expected: () => void): void =>
    void describe(name, () => {
      beforeEach(() =>
        provider().answer((_request, answer) => {
          answer.writeHead(200, { 'content-type': 'text/event-stream' });
          answer.write(script.slice(0, -1).join(''));
          setTimeout(() => answer.end(script.at(-1)), BETWEEN_MS);
        }),
      );
      expected();
    });
const odd = answering(() => world.openrouter);
const oddClaude = answering(() => world.anthropic);

const TWO: Seen['calls'] = [
  ['add', { a: 1 }],
  ['sub', { b: 2 }],
];
const two = () => shows(OPENAI, { text: '', calls: TWO, end: 'tool_calls', tokens: 15 });

describe('calls', () => {
  odd('with one id for two', [say(call(0, 'x', 'add', '{"a":1}')), say(call(1, 'x', 'sub', '{"b":2}')), END], two);
  odd('without ids', [say(call(0, '', 'add', '{"a":1}')), say(call(1, undefined, 'sub', '{"b":2}')), END], two);
  odd(
    'without ids and all with one number',
    [say(call(0, '', 'add', '{"a":1}')), say(call(0, '', 'sub', '{"b":2}')), END],
    two,
  );
  odd(
    'with a new id for each piece',
    [
      say(call(0, 'a1', 'add', '')),
      say(call(0, 'a2', undefined, '{"a"')),
      say(call(1, 'b1', 'sub', '{"b":2}')),
      say(call(0, 'a3', undefined, ':1}')),
      END,
    ],
    two,
  );
  odd(
    'with the name in each piece',
    [
      say(call(0, 'a', 'add', '')),
      say(call(0, 'a', 'add', '{"a"')),
      say(call(0, 'a', 'add', ':1}')),
      say(call(0, 'a', 'add', '')),
      say(call(1, 'b', 'sub', '{"b":2}')),
      END,
    ],
    two,
  );
  odd(
    'whose name comes after the id, or after the arguments',
    [
      say(call(0, 'a')),
      say(call(0, undefined, 'add', '{"a":1}')),
      say(call(1, 'b', undefined, '{"b"')),
      say(call(1, undefined, 'sub')),
      say(call(1, undefined, undefined, ':2}')),
      END,
    ],
    two,
  );
  odd(
    'whose arguments are no text',
    [say(call(0, 'a', 'add', { a: 1 })), say(call(1, 'b', 'sub', { b: 2 })), END],
    two,
  );
  odd(
    'mixed with each other and with words',
    [
      say(call(0, 'a', 'add', '{"a"')),
      say(call(1, 'b', 'sub', '{"b"')),
      say({ content: 'Hel' }),
      say(call(0, undefined, undefined, ':1}')),
      say({ content: 'lo' }),
      say(call(1, undefined, undefined, ':2}')),
      END,
    ],
    () => shows(OPENAI, { calls: TWO, end: 'tool_calls' }),
  );
  odd('without arguments', [say(call(0, 'a', 'add')), END], () =>
    shows(OPENAI, { text: '', calls: [['add', {}]], end: 'tool_calls' }),
  );
  odd('without a reason to stop', [say(call(0, 'a', 'add', '{"a":1}')), event('[DONE]')], () =>
    shows(OPENAI, { text: '', calls: [['add', { a: 1 }]], end: 'tool_calls' }),
  );
  odd(
    'that are none, of which it is said that they are there',
    [say({ content: 'Hello', tool_calls: [{ index: 0, function: {} }, null] }), say({}, 'tool_calls'), event('[DONE]')],
    () => shows(OPENAI, {}),
  );
  odd('with arguments and no name', [say({ content: 'Hel' }), say(call(0, 'a', undefined, '{"a":1}')), END], () =>
    fails(OPENAI, /openrouter/),
  );
});

describe('words', () => {
  odd(
    'between empty pieces',
    [
      say({ role: 'assistant', content: '' }),
      say({}),
      say(null),
      event({ choices: [] }),
      event({ choices: [null] }),
      event({}),
      'data:\n\n',
      ': still here\n\n',
      say({ content: null, tool_calls: [], reasoning_details: [] }),
      say({ content: 'Hello' }),
      END,
    ],
    () => shows(OPENAI, { tokens: 15 }),
  );
  odd('of halves of characters', [say({ content: 'a\ud83d' }), say({ content: '\ude00' }), END], () =>
    shows(OPENAI, { text: 'a😀' }),
  );
  odd('with half a character, and with none', [say({ content: 'a\ud83d' }), say({ content: '\u0000b' }), END], () =>
    shows(OPENAI, { text: 'a\ud83d\u0000b' }),
  );
  odd(
    'in parts',
    [say({ content: [{ type: 'text', text: 'Hel' }] }), say({ content: [null, { text: 'lo' }] }), END],
    () => shows(OPENAI, {}),
  );
  odd(
    'whose end has spaces, and something after it',
    [say({ content: 'Hello' }, 'stop'), 'data:  [DONE] \n\n', event({ error: 'late' })],
    () => shows(OPENAI, {}),
  );
  odd('without [DONE]', [say({ content: 'Hello' }), say({}, 'stop', { usage })], () => shows(OPENAI, { tokens: 15 }));
});

describe('counts', () => {
  for (const counts of [
    null,
    {},
    'many',
    { prompt_tokens: 1e300, completion_tokens: 1e300 },
    { prompt_tokens: -1, completion_tokens: 2 },
  ])
    odd(
      `of ${JSON.stringify(counts)}`,
      [say({ content: 'Hello' }), say({}, 'stop', { usage: counts }), event('[DONE]')],
      () =>
        // Four bytes a token, of what was asked and of what was answered.
        shows(OPENAI, { tokens: 3 }),
    );
});

describe('a stream that goes wrong', () => {
  const begun = say({ content: 'Hel' });
  odd('by an event', [begun, event({ error: { message: 'overloaded', code: 502 } })], () =>
    fails(OPENAI, /openrouter/),
  );
  odd('by an error in a choice', [begun, event({ choices: [{ delta: {}, finish_reason: 'error' }] })], () =>
    fails(OPENAI, /openrouter/),
  );
  odd('by half an event', [begun, 'data: {"choices":[{"delta":{"content"'], () => fails(OPENAI, /openrouter/));
  odd('by what is no JSON', [begun, event('hello'), END], () => fails(OPENAI, /openrouter/));
  odd('by what is no object', [begun, event('7'), END], () => fails(OPENAI, /openrouter/));
  odd('by ending', [begun], () => fails(OPENAI, /openrouter/));
  odd('by depth', [begun, event('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)), END], () =>
    fails(OPENAI, /openrouter/),
  );
});

const start = event({ type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } });
const block = (index: number, given: object): string =>
  event({ type: 'content_block_start', index, content_block: given });
const piece = (index: number, delta: unknown): string => event({ type: 'content_block_delta', index, delta });
const stop = (index: number): string => event({ type: 'content_block_stop', index });
const finish = (reason: string | null, counts: object = { output_tokens: 5 }): string =>
  event({ type: 'message_delta', delta: { stop_reason: reason }, usage: counts }) + event({ type: 'message_stop' });
const text = (said: unknown) => ({ type: 'text_delta', text: said });

describe('Anthropic’s format', () => {
  oddClaude(
    'with words where a block begins, and pieces that are none',
    [
      start,
      event({ type: 'ping' }),
      block(0, { type: 'text', text: 'Hel' }),
      piece(0, text('')),
      piece(0, text(7)),
      piece(0, null),
      piece(9, { type: 'input_json_delta', partial_json: '{' }),
      piece(0, text('lo')),
      stop(0),
      stop(0),
      finish('end_turn', { input_tokens: null, output_tokens: 5, cache_read_input_tokens: null }),
    ],
    () => shows(CLAUDE, { tokens: 15 }),
  );
  oddClaude(
    'with one number for two calls, one id, and no right end',
    [
      start,
      block(0, { type: 'tool_use', id: 'x', name: 'add', input: {} }),
      piece(0, { type: 'input_json_delta', partial_json: '{"a":1}' }),
      stop(0),
      block(0, { type: 'tool_use', id: 'x', name: 'sub', input: { b: 2 } }),
      stop(0),
      stop(0),
      finish(null),
    ],
    () => shows(CLAUDE, { text: '', calls: TWO, end: 'tool_calls', tokens: 15 }),
  );
  oddClaude(
    'that does not count the answer',
    [start, block(0, { type: 'text', text: 'Hello' }), stop(0), finish('end_turn', {})],
    () => shows(CLAUDE, { tokens: 3 }),
  );
  oddClaude('that ends early', [start, piece(0, text('Hel'))], () => fails(CLAUDE, /anthropic/));
  oddClaude(
    'with an error in it',
    [
      start,
      piece(0, text('Hel')),
      event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ],
    () => fails(CLAUDE, /anthropic/),
  );
  oddClaude(
    'with a call without a name',
    [start, piece(0, text('Hel')), block(1, { type: 'tool_use', id: 'x' }) + finish('tool_use')],
    () => fails(CLAUDE, /anthropic/),
  );
});
