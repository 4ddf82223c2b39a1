import { amazonEncoded, amazonSigned } from '@troupe/kernel';
import { ProviderError } from '../errors.ts';
import {
  messageOf,
  usageWithCache,
  Unusable,
  type ListedModel,
  type ProviderDelta,
  type ProviderReply,
  type Wire,
} from '../provider.ts';
import type { ChatUsage, FinishReason, Thought, ThoughtDelta, ToolCall } from '../types.ts';
import type { Authorize } from '../upstream.ts';
import { createAmazonEvents } from './amazon-events.ts';
import { converseBody } from './bedrock-request.ts';
import { createCallIds, nameOfCall } from './calls.ts';

/** Amazon Bedrock by its Converse API: one format for the models of all vendors there. */

type Json = Record<string, unknown>;

const STOPS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
};
const stopOf = (given: unknown): FinishReason => STOPS[String(given)] ?? 'stop';

/** An access key: its id, its secret and, of one that ends, its session token. Anything else is a key of Bedrock's own. */
const ACCESS_KEY = /^((?:AKIA|ASIA)[A-Z0-9]{12,28}):([A-Za-z0-9/+=]{30,60})(?::(.+))?$/;

function authorize(apiKey: string, { hostname }: URL): Authorize {
  const [, accessKeyId, secretAccessKey, sessionToken] = ACCESS_KEY.exec(apiKey) ?? [];
  if (accessKeyId === undefined || secretAccessKey === undefined)
    return async () => ({ authorization: `Bearer ${apiKey}` });
  const region = /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(hostname)?.[1] ?? 'us-east-1';
  const account = { service: 'bedrock', region, accessKeyId, secretAccessKey, sessionToken };
  return async ({ method, url, body }) =>
    amazonSigned({ method, url, body, headers: { 'content-type': 'application/json' }, at: new Date() }, account);
}

export const bedrockWire: Wire = {
  chatPath: (model, stream) => `/model/${amazonEncoded(model)}/${stream ? 'converse-stream' : 'converse'}`,
  modelsPath: undefined,
  headers: () => ({}),
  authorize,
  events: createAmazonEvents,
  body: (provider, _model, request) => {
    const wrong = (text: string): never => {
      throw new ProviderError(provider, 'status', text, 400);
    };
    return converseBody(request, wrong);
  },
  reply,
  streamReader() {
    const state: Reading = { stopped: false, complete: false, calls: new Map(), made: 0, idFor: createCallIds() };
    const complete = (): boolean => state.complete;
    return { complete, ended: complete, read: (data) => readEvent(state, JSON.parse(data) as Json) };
  },
  models: (): ListedModel[] => [],
};

function reply(json: unknown): ProviderReply {
  const answer = (json ?? {}) as {
    output?: { message?: { content?: unknown } };
    stopReason?: unknown;
    usage?: unknown;
  };
  const blocks = answer.output?.message?.content;
  if (!Array.isArray(blocks)) throw new Unusable(messageOf(json) ?? 'the answer has no message');
  const texts: string[] = [];
  const calls: ToolCall[] = [];
  const thoughts: Thought[] = [];
  const idFor = createCallIds();
  for (const block of blocks as (Json | null)[]) {
    if (!block) continue;
    if (typeof block['text'] === 'string') texts.push(block['text']);
    const use = block['toolUse'] as Json | undefined;
    if (use) calls.push(callOf(use, JSON.stringify(use['input'] ?? {}), idFor));
    if (block['reasoningContent']) thoughts.push(thoughtOf(block['reasoningContent'] as Json));
  }
  const content = texts.join('');
  return {
    message: {
      role: 'assistant',
      content: calls.length > 0 ? content || null : content,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(thoughts.length > 0 && { thoughts }),
    },
    finishReason: stopOf(answer.stopReason),
    usage: usageOf(answer.usage),
  };
}

const callOf = (use: Json, args: string, idFor: (given: unknown) => string): ToolCall => ({
  id: idFor(use['toolUseId']),
  type: 'function',
  function: { name: nameOfCall(use['name']), arguments: args },
});

function thoughtOf({ reasoningText, redactedContent }: Json): Thought {
  if (typeof redactedContent === 'string') return { text: '', redacted: redactedContent };
  const { text, signature } = (reasoningText ?? {}) as Json;
  return { text: String(text ?? ''), ...(typeof signature === 'string' && { signature }) };
}

function usageOf(given: unknown): ChatUsage | undefined {
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = (given ?? {}) as Json;
  return usageWithCache({
    input: inputTokens,
    output: outputTokens,
    read: cacheReadInputTokens,
    written: cacheWriteInputTokens,
  });
}

/** What is known of an answer that is being read. `pieces`: whether its arguments have begun. */
interface Reading {
  stopped: boolean;
  /** The last event is the count, which comes after the end. */
  complete: boolean;
  calls: Map<number, { index: number; pieces: boolean }>;
  made: number;
  idFor: (given: unknown) => string;
}

function readEvent(state: Reading, event: Json): ProviderDelta | undefined {
  const index = Number(event['contentBlockIndex']);
  switch (event['type']) {
    case 'contentBlockStart':
      return begin(state, index, (event['start'] as { toolUse?: Json } | undefined)?.toolUse);
    case 'contentBlockDelta':
      return piece(state, index, (event['delta'] ?? {}) as Json);
    case 'contentBlockStop': {
      const call = state.calls.get(index);
      // A call without arguments has no pieces, and no JSON is not JSON.
      if (!call || call.pieces) return undefined;
      call.pieces = true;
      return { toolCalls: [{ index: call.index, function: { arguments: '{}' } }] };
    }
    case 'messageStop':
      state.stopped = true;
      return { finishReason: stopOf(event['stopReason']) };
    case 'metadata': {
      state.complete = state.stopped;
      const usage = usageOf(event['usage']);
      return usage && { usage };
    }
    default:
      return undefined;
  }
}

function begin(state: Reading, at: number, use: Json | undefined): ProviderDelta | undefined {
  if (!use) return undefined;
  const call = callOf(use, '', state.idFor);
  const index = state.made++;
  state.calls.set(at, { index, pieces: false });
  return { toolCalls: [{ index, ...call }] };
}

function piece(
  { calls }: Reading,
  index: number,
  { text, toolUse, reasoningContent }: Json,
): ProviderDelta | undefined {
  if (typeof text === 'string') return text === '' ? undefined : { content: text };
  if (reasoningContent) return { thoughts: [thoughtDelta(index, reasoningContent as Json)] };
  const call = calls.get(index);
  const input = (toolUse as { input?: unknown } | undefined)?.input;
  if (!call || typeof input !== 'string' || input === '') return undefined;
  call.pieces = true;
  return { toolCalls: [{ index: call.index, function: { arguments: input } }] };
}

const thoughtDelta = (index: number, { text, signature, redactedContent }: Json): ThoughtDelta => ({
  index,
  ...(typeof text === 'string' && { text }),
  ...(typeof signature === 'string' && { signature }),
  ...(typeof redactedContent === 'string' && { text: '', redacted: redactedContent }),
});
