import { parseAnswer } from '@troupe/kernel';
import {
  messageOf,
  tokenCount,
  Unusable,
  type ListedModel,
  type ProviderDelta,
  type ProviderEmbeddings,
  type ProviderReply,
  type Wire,
} from '../provider.ts';
import type { ChatRequest, ChatUsage, FinishReason, ToolCall } from '../types.ts';
import { argumentsOf, createCallIds, createStreamedCalls, nameOfCall, signedOf, type GivenCall } from './calls.ts';
import { messagesFor, reasoningFor, toolsFor } from './openai-request.ts';
import { thoughtDeltas, thoughtsOf } from './thoughts.ts';

/** OpenAI's chat completions: OpenAI itself, OpenRouter, Gemini, Groq and Ollama speak it. */

/** Passed on as given. `max_tokens` is not among them: newer models of OpenAI know it by another name. */
const PASSED = [
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'response_format',
] as const satisfies (keyof ChatRequest)[];

const NEW_TOKEN_LIMIT = /^(o\d|gpt-5)/;

const VERBOSITIES: ReadonlySet<unknown> = new Set(['low', 'medium', 'high']);
/** Others refuse what they do not know. */
const takesVerbosity = (provider: string, model: string): boolean =>
  provider === 'openrouter' || (provider === 'openai' && model.startsWith('gpt-5'));

/** A model as it is listed; the last two are what the aggregator adds. */
interface Entry {
  id?: unknown;
  name?: unknown;
  context_length?: unknown;
  architecture?: { input_modalities?: unknown };
}

const seeing = ({ architecture }: Entry): Pick<ListedModel, 'sees'> => {
  const takes = architecture?.input_modalities;
  return Array.isArray(takes) ? { sees: takes.includes('image') } : {};
};

/** Said in `content`, or in `refusal` instead. */
interface Said {
  content?: unknown;
  refusal?: unknown;
  tool_calls?: unknown;
  reasoning?: unknown;
  reasoning_content?: unknown;
  reasoning_details?: unknown;
}

interface Choice {
  message?: Said;
  delta?: Said;
  finish_reason?: unknown;
  error?: unknown;
}

interface Answer {
  choices?: Choice[];
  usage?: Record<string, unknown> | null;
  error?: unknown;
}

export const openaiWire: Wire = {
  chatPath: '/chat/completions',
  modelsPath: '/models',
  headers: (apiKey): Record<string, string> => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),

  body(provider, model, request, stream) {
    const body: Record<string, unknown> = { model, messages: messagesFor(provider, model, request.messages) };
    if (request.tools !== undefined) body['tools'] = toolsFor(provider, request.tools);
    for (const name of PASSED) if (request[name] !== undefined) body[name] = request[name];
    if (request.reasoning) Object.assign(body, reasoningFor(provider, request.reasoning));
    if (request.top_k !== undefined && provider === 'openrouter') body['top_k'] = request.top_k;
    if (request.prompt_cache_key !== undefined && provider === 'openai')
      body['prompt_cache_key'] = request.prompt_cache_key;
    if (takesVerbosity(provider, model) && VERBOSITIES.has(request.verbosity)) body['verbosity'] = request.verbosity;
    if (request.max_tokens !== undefined) {
      const isNew = provider === 'azure' || (provider === 'openai' && NEW_TOKEN_LIMIT.test(model));
      const name = isNew ? 'max_completion_tokens' : 'max_tokens';
      body[name] = request.max_tokens;
    }
    if (stream) {
      body['stream'] = true;
      body['stream_options'] = { include_usage: true };
    }
    return body;
  },

  reply(json): ProviderReply {
    const answer = checked(json);
    const choice = answer.choices?.[0];
    const message = choice?.message;
    if (!choice || !message) throw new Unusable('the answer has no choices');
    const calls = wholeCalls(message.tool_calls);
    const refused = isRefused(message);
    const content = textOf(refused ? message.refusal : message.content);
    const thoughts = thoughtsOf(message);
    return {
      message: {
        role: 'assistant',
        content: calls ? content : (content ?? ''),
        ...(calls ? { tool_calls: calls } : {}),
        ...(thoughts ? { thoughts } : {}),
        ...(refused ? { refused } : {}),
      },
      finishReason: finishReason(choice.finish_reason, calls !== undefined) ?? (calls ? 'tool_calls' : 'stop'),
      usage: usageOf(answer.usage),
    };
  },

  embeddings: {
    path: '/embeddings',
    body: (model, request) => ({ model, ...request }),
    reply: embeddingsOf,
  },

  streamReader() {
    let answered = false;
    let finished = false;
    let ended = false;
    const calls = createStreamedCalls();
    return {
      complete: () => finished || (ended && answered),
      ended: () => ended,
      read(data): ProviderDelta | undefined {
        const text = data.trim();
        if (text === '[DONE]') {
          ended = true;
          const rest = calls.rest();
          return rest.length > 0 ? { toolCalls: rest } : undefined;
        }
        // Somebody keeps the line open.
        if (text === '') return undefined;
        const answer = checked(parseAnswer(data));
        const choice = answer.choices?.[0];
        answered ||= choice !== undefined;
        const delta: ProviderDelta = {};
        const refused = isRefused(choice?.delta);
        const content = textOf(refused ? choice?.delta?.refusal : choice?.delta?.content);
        if (content) delta.content = content;
        if (content && refused) delta.refused = refused;
        const thoughts = choice?.delta && thoughtDeltas(choice.delta);
        if (thoughts) delta.thoughts = thoughts;
        const pieces = calls.pieces(choice?.delta?.tool_calls);
        const reason = finishReason(choice?.finish_reason, calls.any());
        if (reason) pieces.push(...calls.rest());
        if (pieces.length > 0) delta.toolCalls = pieces;
        if (reason) {
          delta.finishReason = reason;
          finished = true;
        }
        const usage = usageOf(answer.usage);
        if (usage) delta.usage = usage;
        return delta;
      },
    };
  },

  models(json): ListedModel[] {
    const { data } = json as { data?: unknown };
    if (!Array.isArray(data)) throw new Unusable('the list of models has no data');
    return data.flatMap((entry: Entry | null) =>
      typeof entry?.id === 'string'
        ? [
            {
              id: entry.id.replace(/^models\//, ''),
              ...(typeof entry.name === 'string' ? { name: entry.name } : {}),
              ...(typeof entry.context_length === 'number' ? { contextWindow: entry.context_length } : {}),
              ...seeing(entry),
            },
          ]
        : [],
    );
  },
};

function embeddingsOf(json: unknown): ProviderEmbeddings {
  const { data, usage } = checked(json) as { data?: unknown; usage?: Record<string, unknown> | null };
  if (!Array.isArray(data)) throw new Unusable('the answer has no data');
  return {
    data: data.map((entry: { index?: unknown; embedding?: unknown } | null, place) => {
      const { embedding, index } = entry ?? {};
      if (!Array.isArray(embedding) && typeof embedding !== 'string') throw new Unusable('an entry has no embedding');
      return { object: 'embedding', index: typeof index === 'number' ? index : place, embedding };
    }),
    tokens: tokenCount(usage?.['prompt_tokens'] ?? usage?.['total_tokens']) || undefined,
  };
}

function checked(json: unknown): Answer {
  if (typeof json !== 'object' || json === null) throw new Unusable('the answer is no object');
  const answer = json as Answer;
  if (isError(answer)) throw new Unusable(messageOf(answer) ?? 'the answer is an error');
  if (answer.choices !== undefined && !Array.isArray(answer.choices)) throw new Unusable('the answer has no choices');
  // OpenRouter puts the fault of the provider behind it there.
  const choice = answer.choices?.[0];
  if (choice && (isError(choice) || choice.finish_reason === 'error'))
    throw new Unusable(messageOf(choice) ?? 'the answer ended in an error');
  return answer;
}

const isError = ({ error }: { error?: unknown }): boolean => error !== undefined && error !== null;

/** It said why it does not answer, and nothing else. */
const isRefused = (said: Said | undefined): true | undefined =>
  said && !said.content && typeof said.refusal === 'string' && said.refusal !== '' ? true : undefined;

/** Some providers answer with parts instead of a text. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  return content.map((part: { text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

function wholeCalls(given: unknown): ToolCall[] | undefined {
  if (!Array.isArray(given) || given.length === 0) return undefined;
  const idFor = createCallIds();
  return given.map((call: GivenCall | null) => ({
    id: idFor(call?.id),
    type: 'function',
    function: {
      name: nameOfCall(call?.function?.name),
      arguments: argumentsOf(call?.function?.arguments) || '{}',
    },
    ...signedOf(call?.extra_content),
  }));
}

const REASONS: ReadonlySet<unknown> = new Set(['stop', 'length', 'tool_calls', 'content_filter']);

/** Gemini and Ollama say `stop` after tool calls too; clients wait for `tool_calls` before they run them. */
function finishReason(given: unknown, withCalls: boolean): FinishReason | undefined {
  if (typeof given !== 'string') return undefined;
  if (withCalls && given === 'stop') return 'tool_calls';
  return REASONS.has(given) ? (given as FinishReason) : given === 'function_call' ? 'tool_calls' : 'stop';
}

function usageOf(given: Answer['usage']): ChatUsage | undefined {
  const prompt = tokenCount(given?.['prompt_tokens']);
  const completion = tokenCount(given?.['completion_tokens']);
  // No prompt is empty: who says so has not counted.
  if (!prompt || completion === undefined) return undefined;
  // Gemini and Grok count what a model thinks in the total alone, and charge it as output.
  const total = Math.max(tokenCount(given?.['total_tokens']) ?? 0, prompt + completion);
  const usage: ChatUsage = { prompt_tokens: prompt, completion_tokens: total - prompt, total_tokens: total };
  const cached = detail(given, 'prompt_tokens_details', 'cached_tokens');
  const written = detail(given, 'prompt_tokens_details', 'cache_write_tokens');
  // A part is no more than the whole.
  if (cached !== undefined)
    usage.prompt_tokens_details = {
      cached_tokens: Math.min(cached, prompt),
      ...(written === undefined ? {} : { cache_write_tokens: Math.min(written, prompt - Math.min(cached, prompt)) }),
    };
  const thought = detail(given, 'completion_tokens_details', 'reasoning_tokens');
  if (thought !== undefined)
    usage.completion_tokens_details = { reasoning_tokens: Math.min(thought, usage.completion_tokens) };
  return usage;
}

const detail = (given: Answer['usage'], group: string, name: string): number | undefined =>
  tokenCount((given?.[group] as Record<string, unknown> | null | undefined)?.[name]);
