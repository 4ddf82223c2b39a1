import type { backend, TypesOf } from '@troupe/contract';
import { AppError } from '@troupe/kernel';
import type {
  AssistantTurn,
  ChatMessage,
  ChatRequest,
  ChatResult,
  Thought,
  ToolChoice,
  ToolDefinition,
} from '../types.ts';
import { given, said, type Face } from './face.ts';
import { partOfInput, simplest } from './parts.ts';
import {
  callItem,
  flatName,
  messageItem,
  offered,
  openSeal,
  outline,
  reasoningItem,
  refusalPart,
  responsesUsage,
  seal,
  textPart,
  type Body,
} from './responses-items.ts';
import { responsesWriter } from './responses-stream.ts';
import { incompleteReason } from './tables.ts';

/** OpenAI's responses, for callers. A conversation is what its items say: whoever keeps some has put them in before. */

type Item = Exclude<TypesOf<typeof backend.v1.createResponse>['body']['input'], string>[number];

export const responsesFace: Face<Body> = {
  errors: 'openai',
  wantsStream: ({ stream }) => stream === true,

  request(body) {
    const { text } = body;
    if (body.previous_response_id) throw new AppError(400, notKept('previous_response_id'));
    const tools = offered(body);
    const items: Item[] =
      typeof body.input === 'string' ? [{ type: 'message', role: 'user', content: body.input }] : body.input;
    return said({
      model: given(body.model),
      messages: [...(body.instructions ? [{ role: 'system', content: body.instructions }] : []), ...messagesOf(items)],
      max_tokens: given(body.max_output_tokens),
      temperature: given(body.temperature),
      top_p: given(body.top_p),
      tools: tools.length > 0 ? tools.map(toolOf) : undefined,
      tool_choice: body.tool_choice ? choiceOf(body.tool_choice) : undefined,
      parallel_tool_calls: given(body.parallel_tool_calls),
      reasoning: body.reasoning?.effort ? { effort: body.reasoning.effort } : undefined,
      response_format: formatOf(text?.format),
      prompt_cache_key: given(body.prompt_cache_key),
      verbosity: given(text?.verbosity),
    }) as ChatRequest;
  },

  reply(given, context) {
    const result = { ...given, id: context.kept?.id ?? given.id };
    return {
      ...outline(result, context),
      ...statusOf(result),
      output: outputOf(result, context.body),
      usage: responsesUsage(result.usage),
    };
  },

  writer: (context) => responsesWriter(context),
};

/** Whoever has a store has resolved both before. */
const notKept = (field: string): string =>
  `${field}: nothing is stored for this caller; send the items themselves, with store set to false`;

/** Words, calls and thoughts that follow each other are one message of the assistant. */
function messagesOf(items: readonly Item[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let open: AssistantTurn | undefined;
  const assistant = (): AssistantTurn => {
    if (!open) messages.push((open = { role: 'assistant', content: null }));
    return open;
  };
  for (const item of items) {
    if (item.type === 'reasoning') (assistant().thoughts ??= []).push(thoughtOf(item));
    else if (item.type === 'function_call')
      addCall(assistant(), item.call_id, flatName(item.name, item.namespace), item.arguments);
    else if (item.type === 'custom_tool_call')
      addCall(assistant(), item.call_id, flatName(item.name, item.namespace), JSON.stringify({ input: item.input }));
    else if (item.type === 'item_reference') throw new AppError(400, notKept('item_reference'));
    else if (item.type === 'message' && item.role === 'assistant') addWords(assistant(), item.content);
    else {
      open = undefined;
      messages.push(otherOf(item));
    }
  }
  return messages;
}

type Other = Exclude<Item, { type: 'reasoning' | 'function_call' | 'custom_tool_call' | 'item_reference' }>;

function otherOf(item: Other): ChatMessage {
  if (item.type !== 'message') return { role: 'tool', tool_call_id: item.call_id, content: contentOf(item.output) };
  return { role: item.role as 'user', content: contentOf(item.content) };
}

const contentOf = (content: Extract<Item, { type: 'message' }>['content']) =>
  typeof content === 'string' ? content : simplest(content.flatMap((part) => partOfInput(part as never) ?? []));

function addWords(message: AssistantTurn, content: Extract<Item, { type: 'message' }>['content']): void {
  const words =
    typeof content === 'string' ? content : content.map((part) => ('text' in part ? part.text : '')).join('');
  message.content = ((message.content as string | null) ?? '') + words;
}

function addCall(message: AssistantTurn, id: string, name: string, args: string): void {
  (message.tool_calls ??= []).push({ id, type: 'function', function: { name, arguments: args } });
}

function thoughtOf({ summary, content, encrypted_content: sealed }: Extract<Item, { type: 'reasoning' }>): Thought {
  const text = [...summary, ...(content ?? [])].map((part) => part.text).join('\n\n');
  return { text, ...(sealed ? openSeal(sealed) : {}) };
}

/** A tool that takes a text: a function with one, for providers that know only those. */
const FREE = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

function toolOf({ tool, flat: name }: ReturnType<typeof offered>[number]): ToolDefinition {
  const described = tool.description ? { description: tool.description } : {};
  if (tool.type === 'function') {
    const parameters = tool.parameters ? { parameters: tool.parameters } : {};
    const strict = typeof tool.strict === 'boolean' ? { strict: tool.strict } : {};
    return { type: 'function', function: { name, ...described, ...parameters, ...strict } };
  }
  const syntax = tool.format?.['definition'];
  const description = [tool.description, typeof syntax === 'string' ? `The input follows this grammar:\n${syntax}` : '']
    .filter(Boolean)
    .join('\n\n');
  return { type: 'function', function: { name, ...(description ? { description } : {}), parameters: FREE } };
}

const choiceOf = (choice: NonNullable<Body['tool_choice']>): ToolChoice =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };

function formatOf(format: NonNullable<Body['text']>['format']): Record<string, unknown> | undefined {
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, schema, strict, description } = format;
  return {
    type: 'json_schema',
    json_schema: said({ name, schema, strict: given(strict), description: given(description) }),
  };
}

function statusOf({ finishReason }: Pick<ChatResult, 'finishReason'>) {
  const reason = incompleteReason(finishReason);
  return reason === undefined
    ? { status: 'completed', incomplete_details: null }
    : { status: 'incomplete', incomplete_details: { reason } };
}

function outputOf({ id, message, finishReason }: ChatResult, body: Body): object[] {
  const { content, tool_calls: calls = [], thoughts = [], refused } = message;
  const status = incompleteReason(finishReason) === undefined ? 'completed' : 'incomplete';
  return [
    ...thoughts.map((thought, index) => reasoningItem(`${id}-${index}`, thought.text, seal(thought))),
    ...(content ? [messageItem(id, content, status, refused ? refusalPart : textPart)] : []),
    ...calls.map((call, index) =>
      callItem(`${id}-${index}`, call.id, call.function.name, call.function.arguments, body, status),
    ),
  ];
}
