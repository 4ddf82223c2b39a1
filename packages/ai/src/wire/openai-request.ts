import type {
  ChatMessage,
  ChatRequest,
  Content,
  Part,
  Reasoning,
  TextPart,
  ToolCall,
  ToolDefinition,
  ToolMessage,
} from '../types.ts';
import { plainText } from './parts.ts';
import { effortOf } from './tables.ts';
import { detailOf } from './thoughts.ts';

/** What providers that speak OpenAI's chat format take, and each of them takes something else. */

/** It understands marks for the cache and gives thoughts back to those who had them; others refuse what they do not know. */
const understands = (provider: string): boolean => provider === 'openrouter';

/** Before each step of calls it wants to see what it thought, from its third generation on; this stands for what nobody has. */
const UNSIGNED = { google: { thought_signature: 'skip_thought_signature_validator' } };
const wantsSigned = (provider: string, model: string): boolean =>
  provider === 'gemini' && /gemini-(?:[3-9]|\d\d)/.test(model);

function callsFor(provider: string, model: string, calls: readonly ToolCall[]): ToolCall[] {
  const isSigned = calls.some((call) => call.extra_content);
  return calls.map((given, index) => {
    const { extra_content: extra, ...call } = unmarked(given);
    if (provider === 'gemini' && extra) return { ...call, extra_content: extra };
    return index === 0 && !isSigned && wantsSigned(provider, model) ? { ...call, extra_content: UNSIGNED } : call;
  });
}

const isPlain = (message: ChatMessage): boolean =>
  !('tool_calls' in message && message.tool_calls) &&
  (typeof message.content === 'string' || !message.content) &&
  !('thoughts' in message && message.thoughts) &&
  !('is_error' in message);

/** Most conversations are texts, and those go as they are. */
export const messagesFor = (provider: string, model: string, messages: ChatMessage[]): unknown[] =>
  messages.every(isPlain)
    ? messages
    : withResultsApart(messages).map((message) => messageFor(provider, model, message));

function messageFor(provider: string, model: string, message: ChatMessage): unknown {
  const content = contentFor(provider, message.content);
  if (message.role === 'tool') return { role: 'tool', content, tool_call_id: message.tool_call_id };
  if (message.role !== 'assistant') return { ...message, content };
  const { thoughts, tool_calls: calls, ...rest } = message;
  return {
    ...rest,
    content,
    ...(calls ? { tool_calls: callsFor(provider, model, calls) } : {}),
    ...(thoughts?.length && understands(provider) ? { reasoning_details: thoughts.map(detailOf) } : {}),
  };
}

const contentFor = (provider: string, content: ChatMessage['content']): unknown =>
  typeof content === 'object' && content !== null && !understands(provider)
    ? content.map((part: Part) => unmarked(part))
    : content;

function unmarked<T extends { cache_control?: unknown }>(part: T): Omit<T, 'cache_control'> {
  const { cache_control: _, ...rest } = part;
  return rest;
}

/** The result of a tool is a text there: its pictures and files are shown by the user, after all results. */
function withResultsApart(messages: ChatMessage[]): ChatMessage[] {
  const result: ChatMessage[] = [];
  let shown: Part[] = [];
  const show = (): void => {
    if (shown.length > 0) result.push({ role: 'user', content: shown });
    shown = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') show();
    if (message.role !== 'tool' || !hasMore(message.content)) {
      result.push(message);
      continue;
    }
    const parts = message.content as Part[];
    const text = plainText(parts.filter((part): part is TextPart => part.type === 'text'));
    result.push({ ...message, content: text || 'Shown below.' } satisfies ToolMessage);
    shown.push(...parts.filter((part) => part.type !== 'text'));
  }
  show();
  return result;
}

const hasMore = (content: Content): boolean =>
  typeof content !== 'string' && content.some((part) => part.type !== 'text');

export const toolsFor = (provider: string, tools: ToolDefinition[]): unknown[] =>
  understands(provider) || !tools.some((tool) => tool.cache_control) ? tools : tools.map((tool) => unmarked(tool));

export function reasoningFor(provider: string, { effort, max_tokens: tokens, adaptive }: Reasoning): object {
  if (understands(provider)) {
    if (tokens !== undefined) return { reasoning: { max_tokens: tokens } };
    return { reasoning: effort === undefined ? { enabled: adaptive ?? true } : { effort: known(effort) } };
  }
  const word = effort ?? (tokens === undefined ? undefined : effortOf(tokens));
  return word === undefined ? {} : { reasoning_effort: known(word) };
}

const known = (effort: NonNullable<Reasoning['effort']>): string => (effort === 'max' ? 'xhigh' : effort);

/** As the caller of a chat names it, in either of two ways. */
export function reasoningOf(given: {
  reasoning_effort?: Reasoning['effort'] | null | undefined;
  reasoning?:
    | { effort?: Reasoning['effort'] | null; max_tokens?: number | null; enabled?: boolean | null }
    | null
    | undefined;
}): Pick<ChatRequest, 'reasoning'> {
  const { reasoning } = given;
  const effort = given.reasoning_effort ?? reasoning?.effort ?? undefined;
  if (effort) return { reasoning: { effort } };
  if (reasoning?.max_tokens) return { reasoning: { max_tokens: reasoning.max_tokens } };
  return reasoning?.enabled ? { reasoning: { adaptive: true } } : {};
}
