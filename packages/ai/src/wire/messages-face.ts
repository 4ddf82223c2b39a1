import type { backend, TypesOf } from '@troupe/contract';
import type { ChatMessage, ChatRequest, ChatResult, Content, Part, Thought, ToolChoice } from '../types.ts';
import { said, type Face } from './face.ts';
import { endOf, inputOf, messageId, messagesUsage, stopOf } from './messages-answer.ts';
import { messagesWriter } from './messages-stream.ts';
import { partOf, simplest } from './parts.ts';

/** Anthropic's messages, for callers. */

type Body = TypesOf<typeof backend.v1.createMessage>['body'];
type Prompt = Pick<
  Body,
  'model' | 'messages' | 'system' | 'tools' | 'tool_choice' | 'thinking' | 'output_config' | 'cache_control'
> &
  Partial<Body>;
type Mark = Part['cache_control'] & object;
type Given = Body['messages'][number];
type Block = Exclude<Given['content'], string>[number];

export const messagesFace: Face<Body> = {
  errors: 'anthropic',
  wantsStream: ({ stream }) => stream === true,
  request: messagesRequest,
  reply,
  writer: () => messagesWriter(),
};

/** Also for what is only counted. */
export function messagesRequest(body: Prompt): ChatRequest {
  const { tools, tool_choice: choice, thinking, output_config: output, cache_control: mark } = body;
  const messages = [...systemOf(body.system), ...body.messages.flatMap(messagesOf)];
  return said({
    model: body.model,
    messages: mark ? markedAtEnd(messages, mark) : messages,
    max_tokens: body.max_tokens,
    temperature: body.temperature,
    top_p: body.top_p,
    top_k: body.top_k,
    stop: body.stop_sequences?.length ? body.stop_sequences : undefined,
    tools: tools?.length ? tools.map(toolOf) : undefined,
    tool_choice: choice && choiceOf(choice),
    parallel_tool_calls: choice?.disable_parallel_tool_use ? false : undefined,
    reasoning: reasoningOf(thinking, output?.effort ?? undefined),
    response_format: output?.format
      ? { type: 'json_schema', json_schema: { name: 'answer', schema: output.format.schema, strict: true } }
      : undefined,
  }) as ChatRequest;
}

function systemOf(system: Body['system']): ChatMessage[] {
  const parts = typeof system === 'string' ? [{ type: 'text' as const, text: system }] : (system ?? []);
  if (parts.length === 0) return [];
  const content = simplest(parts.flatMap((part) => partOf(part) ?? []));
  return content === '' ? [] : [{ role: 'system', content }];
}

/** The results of tools are messages of their own, before what the user says beside them. */
function messagesOf({ role, content }: Given): ChatMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  if (role === 'assistant') return [assistantOf(content)];
  const results = content.flatMap((block): ChatMessage[] => (block.type === 'tool_result' ? [resultOf(block)] : []));
  const parts = content.flatMap((block) => partOf(block as never) ?? []);
  return parts.length > 0 || results.length === 0 ? [...results, { role, content: simplest(parts) }] : results;
}

function resultOf(block: Extract<Block, { type: 'tool_result' }>): ChatMessage {
  const { tool_use_id: id, content = '', is_error: isError, cache_control: mark } = block;
  const parts = typeof content === 'string' ? [] : content.flatMap((one) => partOf(one) ?? []);
  const shown = typeof content === 'string' ? content : simplest(parts);
  return {
    role: 'tool',
    tool_call_id: id,
    content: mark ? marked(shown, mark) : shown,
    ...(isError ? { is_error: true } : {}),
  };
}

/** A mark of the whole prompt is one of its last block; who has marked that has said it. */
function markedAtEnd(messages: ChatMessage[], mark: Mark): ChatMessage[] {
  const last = messages.findLastIndex(
    (message) => message.content?.length || ('tool_calls' in message && message.tool_calls),
  );
  return messages.map((message, index) => {
    if (index !== last) return message;
    const calls = message.role === 'assistant' ? message.tool_calls : undefined;
    if (!calls) return { ...message, content: marked(message.content as Content, mark) } as ChatMessage;
    const end = calls.length - 1;
    return { ...message, tool_calls: calls.with(end, { cache_control: mark, ...calls[end]! }) } as ChatMessage;
  });
}

/** The mark of a result is that of its last part. */
function marked(content: Content, mark: Mark): Part[] {
  const parts: Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return parts.map((part, index) =>
    index === parts.length - 1 ? { ...part, cache_control: part.cache_control ?? mark } : part,
  );
}

function assistantOf(blocks: Block[]): ChatMessage {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [partOf(block)!] : []));
  const content = simplest(texts);
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            id: block.id,
            type: 'function' as const,
            function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) },
            ...(block.cache_control ? { cache_control: block.cache_control } : {}),
          },
        ]
      : [],
  );
  const thoughts = blocks.flatMap(thoughtOf);
  return {
    role: 'assistant',
    content: calls.length > 0 && content === '' ? null : (content as string),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(thoughts.length > 0 ? { thoughts } : {}),
  };
}

function thoughtOf(block: Block): Thought[] {
  if (block.type === 'redacted_thinking') return [{ text: '', redacted: block.data }];
  if (block.type !== 'thinking') return [];
  return [{ text: block.thinking, ...(block.signature ? { signature: block.signature } : {}) }];
}

const toolOf = ({
  name,
  description,
  input_schema: parameters,
  strict,
  cache_control: mark,
}: NonNullable<Body['tools']>[number]) => ({
  type: 'function' as const,
  function: {
    name,
    ...(description === undefined ? {} : { description }),
    parameters,
    ...(typeof strict === 'boolean' ? { strict } : {}),
  },
  ...(mark ? { cache_control: mark } : {}),
});

function choiceOf({ type, name = '' }: NonNullable<Body['tool_choice']>): ToolChoice {
  if (type === 'tool') return { type: 'function', function: { name } };
  return type === 'any' ? 'required' : type;
}

function reasoningOf(
  thinking: Body['thinking'],
  effort: NonNullable<ChatRequest['reasoning']>['effort'],
): ChatRequest['reasoning'] {
  const word = effort === undefined ? {} : { effort };
  if (thinking?.type === 'adaptive') return { adaptive: true, ...word };
  if (thinking?.type === 'enabled') return { max_tokens: thinking.budget_tokens ?? 1024 };
  return thinking === undefined && effort !== undefined ? word : undefined;
}

function reply(result: ChatResult): Record<string, unknown> {
  const { content, tool_calls: calls = [], thoughts = [] } = result.message;
  return {
    id: messageId(result.id),
    type: 'message',
    role: 'assistant',
    model: result.model,
    content: [
      ...thoughts.map(({ text, signature = '', redacted }) =>
        redacted === undefined
          ? { type: 'thinking', thinking: text, signature }
          : { type: 'redacted_thinking', data: redacted },
      ),
      ...(content ? [{ type: 'text', text: content }] : []),
      ...calls.map(({ id, function: { name, arguments: args } }) => ({
        type: 'tool_use',
        id,
        name,
        input: inputOf(args),
      })),
    ],
    ...stopOf(endOf(result, result.message.refused === true)),
    usage: messagesUsage(result.usage),
  };
}
