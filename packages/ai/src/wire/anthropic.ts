import { parseAnswer } from '@troupe/kernel';
import {
  messageOf,
  tokenCount,
  usageWithCache,
  Unusable,
  type ListedModel,
  type ProviderDelta,
  type ProviderReply,
  type Wire,
} from '../provider.ts';
import type {
  ChatMessage,
  ChatRequest,
  ChatUsage,
  SystemMessage,
  Thought,
  ThoughtDelta,
  ToolCall,
  ToolMessage,
} from '../types.ts';
import { createCallIds, nameOfCall, withSafeIds } from './calls.ts';
import { blocksOf, plainText, saidFormat, type Block } from './parts.ts';
import { canBeHeld } from './strict.ts';
import { budgetOf, stopOfMessages } from './tables.ts';

/** Anthropic's messages format, translated from and to OpenAI's. */

/** Required by the format; what a caller gets who does not say. */
const DEFAULT_MAX_TOKENS = 4096;
/** The least that the format takes for thinking. */
const LEAST_BUDGET = 1024;

interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

export const anthropicWire: Wire = {
  chatPath: '/v1/messages',
  modelsPath: '/v1/models?limit=1000',
  headers: (apiKey) => ({ 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' }),

  body(_provider, model, request, stream) {
    const { tools, stop } = request;
    const system = [...request.messages.filter(isSystem), ...saidFormat(request)];
    const limit = request.max_tokens ?? DEFAULT_MAX_TOKENS;
    return {
      model,
      ...thinking(request, limit),
      messages: turns(withSafeIds(request.messages)),
      ...(system.length > 0 ? { system: systemOf(system) } : {}),
      ...(stop === undefined ? {} : { stop_sequences: [stop].flat() }),
      ...(tools && tools.length > 0 ? { tools: tools.map(toolOf), ...toolChoice(request) } : {}),
      ...(stream ? { stream: true } : {}),
    };
  },

  reply(json): ProviderReply {
    const answer = checked(json);
    const blocks = answer['content'];
    if (!Array.isArray(blocks)) throw new Unusable('the answer has no content');
    const texts: string[] = [];
    const calls: ToolCall[] = [];
    const idFor = createCallIds();
    const thoughts: Thought[] = [];
    for (const block of blocks as (Partial<Block> | null)[]) {
      if (!block) continue;
      if (block.type === 'text' && typeof block['text'] === 'string') texts.push(block['text']);
      if (block.type === 'thinking' || block.type === 'redacted_thinking') thoughts.push(thoughtOf(block));
      if (block.type === 'tool_use') {
        calls.push({
          id: idFor(block['id']),
          type: 'function',
          function: { name: nameOfCall(block['name']), arguments: JSON.stringify(block['input'] ?? {}) },
        });
      }
    }
    const content = texts.join('');
    const stopSequence = answer['stop_sequence'];
    return {
      message: {
        role: 'assistant',
        content: calls.length > 0 ? content || null : content,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
        ...(thoughts.length > 0 ? { thoughts } : {}),
      },
      finishReason: stopOfMessages(answer['stop_reason']),
      ...(typeof stopSequence === 'string' ? { stopSequence } : {}),
      usage: usageOf(answer['usage']),
    };
  },

  count: {
    path: '/v1/messages/count_tokens',
    body(provider, model, request) {
      const {
        messages,
        system,
        tools,
        tool_choice: choice,
        thinking: thought,
      } = anthropicWire.body(provider, model, request, false);
      return { model, messages, system, tools, tool_choice: choice, thinking: thought };
    },
    reply(json) {
      const tokens = tokenCount(checked(json)['input_tokens']);
      if (tokens === undefined) throw new Unusable('the answer has no count');
      return tokens;
    },
  },

  streamReader() {
    const state: Reading = { complete: false, usage: {}, calls: new Map(), made: 0, idFor: createCallIds() };
    const complete = (): boolean => state.complete;
    return { complete, ended: complete, read: (data) => readEvent(state, checked(parseAnswer(data))) };
  },

  models(json): ListedModel[] {
    const { data } = json as { data?: unknown };
    if (!Array.isArray(data)) throw new Unusable('the list of models has no data');
    return data.flatMap((entry: { id?: unknown; display_name?: unknown } | null) =>
      typeof entry?.id === 'string'
        ? [{ id: entry.id, ...(typeof entry.display_name === 'string' ? { name: entry.display_name } : {}) }]
        : [],
    );
  },
};

interface Delta {
  type?: unknown;
  text?: unknown;
  partial_json?: unknown;
  thinking?: unknown;
  signature?: unknown;
}

const wordsOf = (given: unknown): string => (typeof given === 'string' ? given : '');

function thoughtDelta(index: number, { type, thinking: text, signature }: Delta): ThoughtDelta | undefined {
  if (type === 'thinking_delta') return { index, text: wordsOf(text) };
  return type === 'signature_delta' && wordsOf(signature) ? { index, signature: wordsOf(signature) } : undefined;
}

function thoughtOf(block: Partial<Block>): Thought {
  if (block.type === 'redacted_thinking') return { text: '', redacted: String(block['data'] ?? '') };
  const { thinking: text, signature } = block as { thinking?: unknown; signature?: unknown };
  return { text: String(text ?? ''), ...(typeof signature === 'string' && signature !== '' ? { signature } : {}) };
}

/** Limit, temperature and thinking, which depend on each other. */
function thinking(request: ChatRequest, limit: number): Record<string, unknown> {
  const { temperature, top_p: topP, top_k: topK, reasoning = {}, response_format: format } = request;
  const { effort, max_tokens: given, adaptive } = reasoning;
  const schema = (format?.['json_schema'] as { schema?: unknown } | undefined)?.schema;
  const output = {
    ...(schema === undefined ? {} : { format: { type: 'json_schema', schema } }),
    ...(adaptive && effort !== undefined ? { effort } : {}),
  };
  const more = Object.keys(output).length > 0 ? { output_config: output } : {};
  if (adaptive) return { max_tokens: limit, thinking: { type: 'adaptive' }, ...more };
  const budget = given ?? (effort === undefined ? 0 : budgetOf(effort));
  if (budget > 0) {
    const least = Math.max(budget, LEAST_BUDGET);
    // The limit counts thoughts too: an answer needs room beside them.
    const whole = request.max_tokens === undefined || least >= limit ? least + limit : limit;
    return { max_tokens: whole, thinking: { type: 'enabled', budget_tokens: least }, ...more };
  }
  return {
    max_tokens: limit,
    // One scale ends at 1, the other at 2; and the two parameters exclude each other.
    ...(temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }),
    ...(topP === undefined || temperature !== undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
    ...more,
  };
}

/** One text, unless there is a mark in it. */
function systemOf(messages: SystemMessage[]): string | Block[] {
  const blocks = messages.flatMap((message) => blocksOf(message.content));
  return blocks.some((block) => block['cache_control'])
    ? blocks
    : messages.map((message) => plainText(message.content)).join('\n\n');
}

function checked(json: unknown): Record<string, unknown> {
  if (typeof json !== 'object' || json === null) throw new Unusable('the answer is no object');
  const answer = json as Record<string, unknown>;
  if (answer['type'] === 'error' || (answer['error'] !== undefined && answer['error'] !== null)) {
    throw new Unusable(messageOf(answer) ?? 'the answer is an error');
  }
  return answer;
}

const isSystem = (message: ChatMessage): message is SystemMessage =>
  message.role === 'system' || message.role === 'developer';

/** Roles must alternate and tool results are the user's: neighbours of one role become one turn. */
function turns(messages: ChatMessage[]): Turn[] {
  const result: Turn[] = [];
  for (const message of messages) {
    if (isSystem(message)) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocks(message);
    if (content.length === 0) continue;
    const last = result.at(-1);
    if (last?.role === role) last.content.push(...content);
    else result.push({ role, content });
  }
  return result.map(({ role, content }) => ({ role, content: resultsFirst(content) }));
}

/** A turn after tool calls must begin with their results, whatever was said between them. */
const resultsFirst = (content: Block[]): Block[] =>
  content.toSorted((a, b) => Number(b.type === 'tool_result') - Number(a.type === 'tool_result'));

function blocks(message: Exclude<ChatMessage, SystemMessage>): Block[] {
  if (message.role === 'tool') return [resultBlock(message)];
  const content = blocksOf(message.content ?? '');
  if (message.role === 'user') return content;
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.function.name,
    input: parsedArguments(call.function.arguments),
    ...(call.cache_control ? { cache_control: call.cache_control } : {}),
  }));
  return [...(message.thoughts ?? []).flatMap(thoughtBlock), ...content, ...calls];
}

/** Without a signature it would be refused: it is another model's. */
function thoughtBlock({ text, signature, redacted }: Thought): Block[] {
  if (redacted !== undefined) return [{ type: 'redacted_thinking', data: redacted }];
  return signature === undefined ? [] : [{ type: 'thinking', thinking: text, signature }];
}

function resultBlock({ tool_call_id: id, content, is_error: isError }: ToolMessage): Block {
  const isPlain =
    typeof content === 'string' ||
    (content.length < 2 && content.every((part) => part.type === 'text' && part.cache_control === undefined));
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: isPlain ? plainText(content) : blocksOf(content),
    ...(isError ? { is_error: true } : {}),
  };
}

/** A model's earlier call with broken arguments must not make the whole conversation unusable. */
function parsedArguments(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value };
  } catch {
    return { unparsed: text };
  }
}

const toolOf = ({
  function: { name, description, parameters, strict },
  cache_control: cache,
}: NonNullable<ChatRequest['tools']>[number]) => ({
  name,
  ...(description === undefined ? {} : { description }),
  input_schema: parameters ?? { type: 'object', properties: {} },
  ...(strict && canBeHeld(parameters) ? { strict } : {}),
  ...(cache ? { cache_control: cache } : {}),
});

function toolChoice({ tool_choice: choice, parallel_tool_calls: parallel }: ChatRequest): Record<string, unknown> {
  if (choice === undefined && parallel !== false) return {};
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  if (typeof choice === 'object') return { tool_choice: { type: 'tool', name: choice.function.name, ...single } };
  return { tool_choice: { type: choice === 'required' ? 'any' : 'auto', ...single } };
}

function usageOf(given: unknown): ChatUsage | undefined {
  const counts = (given ?? {}) as Record<string, unknown>;
  return usageWithCache({
    input: counts['input_tokens'],
    output: counts['output_tokens'],
    read: counts['cache_read_input_tokens'],
    written: counts['cache_creation_input_tokens'],
  });
}

/** What is known of an answer that is being read. */
interface Reading {
  complete: boolean;
  usage: Record<string, unknown>;
  /** Anthropic numbers all blocks, OpenAI only the tool calls. `input`: what the call has when no piece of it follows. */
  calls: Map<number, { index: number; input: unknown }>;
  made: number;
  idFor: (given: unknown) => string;
}

/** What was counted; later events may say null of what an earlier one has. */
const countsOf = (given: unknown): Record<string, number> =>
  Object.fromEntries(
    Object.entries((given ?? {}) as object).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );

function readEvent(state: Reading, event: Record<string, unknown>): ProviderDelta | undefined {
  const index = Number(event['index']);
  switch (event['type']) {
    case 'message_start':
      state.usage = countsOf((event['message'] as { usage?: unknown } | null | undefined)?.usage);
      return {};
    case 'content_block_start':
      return readBlock(state, index, event['content_block'] as Partial<Block> | undefined);
    case 'content_block_delta':
      return readPiece(state, index, event['delta'] as Delta | undefined);
    case 'content_block_stop': {
      // A call without arguments has no pieces, and no JSON is not JSON.
      const call = state.calls.get(index);
      if (call?.input === undefined) return undefined;
      const text = JSON.stringify(call.input);
      call.input = undefined;
      return { toolCalls: [{ index: call.index, function: { arguments: text } }] };
    }
    case 'message_delta': {
      const told = countsOf(event['usage']);
      state.usage = { ...state.usage, ...told };
      const { stop_reason: reason, stop_sequence: at } = (event['delta'] ?? {}) as Record<string, unknown>;
      // At the start nothing of the answer has been counted yet.
      const counted = told['output_tokens'] === undefined ? undefined : usageOf(state.usage);
      return {
        ...(typeof reason === 'string' ? { finishReason: stopOfMessages(reason) } : {}),
        ...(typeof at === 'string' ? { stopSequence: at } : {}),
        ...(counted ? { usage: counted } : {}),
      };
    }
    case 'message_stop':
      state.complete = true;
      return undefined;
    default:
      return undefined;
  }
}

function readBlock(state: Reading, index: number, block: Partial<Block> | null | undefined): ProviderDelta | undefined {
  if (block?.type === 'redacted_thinking' || block?.type === 'thinking')
    return { thoughts: [{ index, ...thoughtOf(block) }] };
  if (block?.type === 'text' && wordsOf(block['text'])) return { content: wordsOf(block['text']) };
  if (block?.type !== 'tool_use') return undefined;
  const name = nameOfCall(block['name']);
  const call = { index: state.made++, input: block['input'] ?? {} };
  state.calls.set(index, call);
  const id = state.idFor(block['id']);
  return { toolCalls: [{ index: call.index, id, type: 'function', function: { name, arguments: '' } }] };
}

function readPiece({ calls }: Reading, index: number, delta: Delta | null | undefined): ProviderDelta | undefined {
  if (delta?.type === 'text_delta') return wordsOf(delta.text) ? { content: wordsOf(delta.text) } : undefined;
  const thought = delta && thoughtDelta(index, delta);
  if (thought) return { thoughts: [thought] };
  const call = calls.get(index);
  const piece = wordsOf(delta?.partial_json);
  if (delta?.type !== 'input_json_delta' || !call || piece === '') return undefined;
  call.input = undefined;
  return { toolCalls: [{ index: call.index, function: { arguments: piece } }] };
}
