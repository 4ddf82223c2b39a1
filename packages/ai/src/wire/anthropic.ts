import {
  messageOf,
  tokenCount,
  Unusable,
  type ListedModel,
  type ProviderDelta,
  type ProviderReply,
  type Wire,
} from '../provider.ts';
import type { ChatMessage, ChatRequest, ChatUsage, Content, FinishReason, SystemMessage, ToolCall } from '../types.ts';

/** Anthropic's messages format, translated from and to OpenAI's. */

/** Required by the format; what a caller gets who does not say. */
const DEFAULT_MAX_TOKENS = 4096;

type Block = Record<string, unknown> & { type: string };

interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

export const anthropicWire: Wire = {
  chatPath: '/v1/messages',
  modelsPath: '/v1/models?limit=1000',
  headers: (apiKey) => ({ 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' }),

  body(_provider, model, request, stream) {
    const { tools, temperature, top_p: topP, stop } = request;
    const system = request.messages.filter(isSystem);
    return {
      model,
      max_tokens: request.max_tokens ?? DEFAULT_MAX_TOKENS,
      messages: turns(request.messages),
      ...(system.length > 0 ? { system: system.map((message) => plainText(message.content)).join('\n\n') } : {}),
      // One scale ends at 1, the other at 2; and the two parameters exclude each other.
      ...(temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }),
      ...(topP === undefined || temperature !== undefined ? {} : { top_p: topP }),
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
    for (const block of blocks as Partial<Block>[]) {
      if (block.type === 'text' && typeof block['text'] === 'string') texts.push(block['text']);
      if (block.type === 'tool_use') {
        calls.push({
          id: String(block['id']),
          type: 'function',
          function: { name: String(block['name']), arguments: JSON.stringify(block['input'] ?? {}) },
        });
      }
    }
    const content = texts.join('');
    return {
      message:
        calls.length > 0
          ? { role: 'assistant', content: content || null, tool_calls: calls }
          : { role: 'assistant', content },
      finishReason: finishReason(answer['stop_reason']),
      usage: usageOf(answer['usage']),
    };
  },

  streamReader() {
    let complete = false;
    let usage: Record<string, unknown> = {};
    /** Anthropic numbers all blocks, OpenAI only the tool calls. `input`: what the call has when no piece of it follows. */
    const calls = new Map<number, { index: number; input: unknown }>();
    return {
      complete: () => complete,
      ended: () => complete,
      read(data): ProviderDelta | undefined {
        const event = checked(JSON.parse(data));
        const index = Number(event['index']);
        switch (event['type']) {
          case 'message_start':
            usage = { ...(event['message'] as { usage?: object } | undefined)?.usage };
            return {};
          case 'content_block_start': {
            const block = event['content_block'] as Partial<Block> | undefined;
            if (block?.type !== 'tool_use') return undefined;
            const call = { index: calls.size, input: block['input'] ?? {} };
            calls.set(index, call);
            const name = String(block['name']);
            return {
              toolCalls: [
                { index: call.index, id: String(block['id']), type: 'function', function: { name, arguments: '' } },
              ],
            };
          }
          case 'content_block_delta': {
            const delta = event['delta'] as { type?: string; text?: string; partial_json?: string } | undefined;
            if (delta?.type === 'text_delta') return { content: delta.text ?? '' };
            const call = calls.get(index);
            if (delta?.type !== 'input_json_delta' || !call || !delta.partial_json) return undefined;
            call.input = undefined;
            return { toolCalls: [{ index: call.index, function: { arguments: delta.partial_json } }] };
          }
          case 'content_block_stop': {
            // A call without arguments has no pieces, and no JSON is not JSON.
            const call = calls.get(index);
            if (call?.input === undefined) return undefined;
            return { toolCalls: [{ index: call.index, function: { arguments: JSON.stringify(call.input) } }] };
          }
          case 'message_delta': {
            usage = { ...usage, ...(event['usage'] as object | undefined) };
            const reason = (event['delta'] as { stop_reason?: unknown } | undefined)?.stop_reason;
            const counted = usageOf(usage);
            return { finishReason: finishReason(reason), ...(counted ? { usage: counted } : {}) };
          }
          case 'message_stop':
            complete = true;
            return undefined;
          default:
            return undefined;
        }
      },
    };
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
  if (message.role === 'tool') {
    return [{ type: 'tool_result', tool_use_id: message.tool_call_id, content: plainText(message.content) }];
  }
  const content = contentBlocks(message.content ?? '');
  if (message.role === 'user') return content;
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: 'tool_use',
    id: call.id,
    name: call.function.name,
    input: parsedArguments(call.function.arguments),
  }));
  return [...content, ...calls];
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

function contentBlocks(content: Content): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  // It refuses texts that are empty.
  const said = content.filter((part) => part.type !== 'text' || part.text !== '');
  return said.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const inline = /^data:([^;,]+);base64,(.*)$/s.exec(part.image_url.url);
    const source = inline
      ? { type: 'base64', media_type: inline[1], data: inline[2] }
      : { type: 'url', url: part.image_url.url };
    return { type: 'image', source };
  });
}

const plainText = (content: Content): string =>
  typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('');

const toolOf = ({ function: { name, description, parameters } }: NonNullable<ChatRequest['tools']>[number]) => ({
  name,
  ...(description === undefined ? {} : { description }),
  input_schema: parameters ?? { type: 'object', properties: {} },
});

function toolChoice({ tool_choice: choice, parallel_tool_calls: parallel }: ChatRequest): Record<string, unknown> {
  if (choice === undefined && parallel !== false) return {};
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  if (typeof choice === 'object') return { tool_choice: { type: 'tool', name: choice.function.name, ...single } };
  return { tool_choice: { type: choice === 'required' ? 'any' : 'auto', ...single } };
}

function finishReason(given: unknown): FinishReason {
  if (given === 'tool_use') return 'tool_calls';
  if (given === 'max_tokens' || given === 'model_context_window_exceeded') return 'length';
  return given === 'refusal' ? 'content_filter' : 'stop';
}

function usageOf(given: unknown): ChatUsage | undefined {
  const counts = (given ?? {}) as Record<string, unknown>;
  const input = tokenCount(counts['input_tokens']);
  const output = tokenCount(counts['output_tokens']);
  if (input === undefined || output === undefined) return undefined;
  // What was read from or written to the prompt cache is reported apart from the other input.
  const cached = ['cache_read_input_tokens', 'cache_creation_input_tokens'].map(
    (name) => tokenCount(counts[name]) ?? 0,
  );
  const prompt = cached.reduce((sum, each) => sum + each, input);
  if (prompt === 0) return undefined;
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output };
}
