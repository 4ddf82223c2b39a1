import type { ChatMessage, ChatRequest, Content, Part, SystemMessage, Thought, ToolMessage } from '../types.ts';
import { withSafeIds } from './calls.ts';
import { saidFormat } from './parts.ts';
import { budgetOf } from './tables.ts';

/** A chat as Bedrock's Converse API takes it. `wrong`: says what it cannot take. */

type Block = Record<string, unknown>;
type Wrong = (text: string) => never;

interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

const DATA = /^data:([^;,]*)(?:;[^;,]*)*;base64,/;
const CACHED: Block = { cachePoint: { type: 'default' } };
const PICTURES: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const FILES: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};
/** The least that models take for thinking. */
const LEAST_BUDGET = 1024;
/** What Claude is told on Bedrock so that it thinks between calls of tools. */
const INTERLEAVED = 'interleaved-thinking-2025-05-14';
const DEFAULT_MAX_TOKENS = 4096;

export function converseBody(request: ChatRequest, wrong: Wrong): Record<string, unknown> {
  const told = [...request.messages.filter(isSystem), ...saidFormat(request)];
  const system = told.flatMap(({ content }) => blocksOf(content, wrong));
  const tools = toolConfig(request);
  const output = outputConfig(request);
  const more = moreFields(request);
  return {
    messages: turnsOf(withSafeIds(request.messages), wrong),
    ...(system.length > 0 && { system }),
    ...inference(request),
    ...(tools && { toolConfig: tools }),
    ...(output && { outputConfig: output }),
    ...(more && { additionalModelRequestFields: more }),
  };
}

const isSystem = (message: ChatMessage): message is SystemMessage =>
  message.role === 'system' || message.role === 'developer';

/** Roles alternate, and results of tools are the user's: neighbours of one role become one turn, results first. */
function turnsOf(messages: readonly ChatMessage[], wrong: Wrong): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (isSystem(message)) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(message, wrong);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  }
  const isResult = (block: Block): number => Number('toolResult' in block);
  return turns.map(({ role, content }) => ({ role, content: content.toSorted((a, b) => isResult(b) - isResult(a)) }));
}

function contentOf(message: Exclude<ChatMessage, SystemMessage>, wrong: Wrong): Block[] {
  if (message.role === 'tool') return resultBlocks(message, wrong);
  const content = blocksOf(message.content ?? '', wrong);
  if (message.role === 'user') return content;
  const calls = (message.tool_calls ?? []).flatMap(
    ({ id, function: { name, arguments: args }, cache_control: cache }) => [
      { toolUse: { toolUseId: id, name, input: parsed(args) } },
      ...(cache ? [CACHED] : []),
    ],
  );
  return [...(message.thoughts ?? []).flatMap(thoughtBlock), ...content, ...calls];
}

/** Without a signature it would be refused: it is another model's. */
function thoughtBlock({ text, signature, redacted }: Thought): Block[] {
  if (redacted !== undefined) return [{ reasoningContent: { redactedContent: redacted } }];
  return signature === undefined ? [] : [{ reasoningContent: { reasoningText: { text, signature } } }];
}

/** A mark in a result stands behind it. */
function resultBlocks({ tool_call_id: id, content, is_error: isError }: ToolMessage, wrong: Wrong): Block[] {
  const all = blocksOf(content, wrong);
  const found = all.filter((block) => !('cachePoint' in block));
  const result = {
    toolUseId: id,
    content: found.length > 0 ? found : [{ text: ' ' }],
    ...(isError && { status: 'error' }),
  };
  return [{ toolResult: result }, ...(found.length < all.length ? [CACHED] : [])];
}

/** Texts that are empty are refused. */
function blocksOf(content: Content, wrong: Wrong): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return content.flatMap((part, index) => {
    if (part.type === 'text' && part.text === '') return [];
    return [blockOf(part, index, wrong), ...(part.cache_control ? [CACHED] : [])];
  });
}

function blockOf(part: Part, index: number, wrong: Wrong): Block {
  if (part.type === 'text') return { text: part.text };
  const url = part.type === 'image_url' ? part.image_url.url : part.file.file_data;
  const [head, kind = ''] = DATA.exec(url) ?? [];
  if (head === undefined) return wrong('Bedrock takes pictures and files with the message, not by an address');
  const source = { bytes: url.slice(head.length) };
  const formats = part.type === 'image_url' ? PICTURES : FILES;
  const format = formats[kind.toLowerCase()] ?? wrong(`Bedrock does not take ${kind || 'files without a type'}`);
  if (part.type === 'image_url') return { image: { format, source } };
  return { document: { format, name: nameOf(part.file.filename, index), source } };
}

/** Letters, digits, single spaces, hyphens and brackets are all that a name may have. */
const nameOf = (given: string | undefined, index: number): string =>
  (given ?? '')
    .replace(/\.[^.]*$/, '')
    .replaceAll(/[^\p{ASCII}]|[^\w\s()[\]-]|_/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 100) || `file ${index + 1}`;

/** A model's earlier call with broken arguments must not make the whole conversation unusable. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value };
  } catch {
    return { unparsed: text };
  }
}

/** Conversations with calls need the tools that were called, also when none may be called now. */
function toolConfig({ tools = [], tool_choice: choice, messages }: ChatRequest): Block | undefined {
  const called = messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []));
  const offered = choice === 'none' && called.length === 0 ? [] : tools;
  const gone = [...new Set(called.map(({ function: { name } }) => name))].filter(
    (name) => !offered.some((tool) => tool.function.name === name),
  );
  const specs = [
    ...offered.flatMap(({ function: { name, description, parameters }, cache_control: cache }) => [
      { toolSpec: { name, ...(description && { description }), inputSchema: { json: parameters ?? ANYTHING } } },
      ...(cache ? [CACHED] : []),
    ]),
    ...gone.map((name) => ({ toolSpec: { name, inputSchema: { json: ANYTHING } } })),
  ];
  return specs.length === 0 ? undefined : { tools: specs, ...(offered.length > 0 && toolChoice(choice)) };
}

const ANYTHING = { type: 'object', properties: {} };

function toolChoice(choice: ChatRequest['tool_choice']): Block {
  if (choice === 'required') return { toolChoice: { any: {} } };
  return typeof choice === 'object' ? { toolChoice: { tool: { name: choice.function.name } } } : {};
}

const budgetFor = ({ reasoning }: ChatRequest): number =>
  reasoning?.max_tokens ?? (reasoning?.effort === undefined || reasoning.adaptive ? 0 : budgetOf(reasoning.effort));

/** The limit counts thoughts too: an answer needs room beside them. */
function limitFor({ max_tokens: given }: ChatRequest, budget: number): number | undefined {
  if (budget <= 0) return given;
  const least = Math.max(budget, LEAST_BUDGET);
  return given !== undefined && given > least ? given : least + (given ?? DEFAULT_MAX_TOKENS);
}

function inference(request: ChatRequest): Block {
  const { temperature, top_p: topP, stop } = request;
  const budget = budgetFor(request);
  const isThinking = budget > 0 || request.reasoning?.adaptive;
  const limit = limitFor(request, budget);
  return {
    inferenceConfig: {
      ...(limit !== undefined && { maxTokens: limit }),
      // Who thinks takes no temperature. One scale ends at 1, the other at 2; and the two exclude each other.
      ...(temperature !== undefined && !isThinking && { temperature: Math.min(temperature, 1) }),
      ...(topP !== undefined && temperature === undefined && !isThinking && { topP }),
      ...(stop !== undefined && { stopSequences: [stop].flat() }),
    },
  };
}

function outputConfig({ response_format: format, reasoning }: ChatRequest): Block | undefined {
  const { schema, name } = (format?.['json_schema'] ?? {}) as { schema?: unknown; name?: unknown };
  const effort = reasoning?.adaptive ? reasoning.effort : undefined;
  if (schema === undefined && effort === undefined) return undefined;
  return {
    ...(schema !== undefined && {
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { schema: JSON.stringify(schema), ...(typeof name === 'string' && { name }) } },
      },
    }),
    ...(effort !== undefined && { effort }),
  };
}

/** What the models of one vendor know and the common format does not. */
function moreFields(request: ChatRequest): Block | undefined {
  const budget = budgetFor(request);
  const { top_k: topK, reasoning } = request;
  const thinking = reasoning?.adaptive
    ? { type: 'adaptive' }
    : budget > 0
      ? { type: 'enabled', budget_tokens: Math.max(budget, LEAST_BUDGET) }
      : undefined;
  if (!thinking && topK === undefined) return undefined;
  return {
    ...(thinking && { thinking }),
    ...(thinking && reasoning?.interleaved && { anthropic_beta: [INTERLEAVED] }),
    ...(topK !== undefined && { top_k: topK }),
  };
}
