import { createEventReader, type SentEvent } from '@troupe/contract';
import { parseAnswer } from '@troupe/kernel';
import { ProviderError, withoutSecrets } from './errors.ts';
import { atOnce, type InTurn } from './in-turn.ts';
import { withoutRepeats } from './repeats.ts';
import type { AssistantMessage, ChatRequest, ChatUsage, FinishReason, ThoughtDelta, ToolCallDelta } from './types.ts';
import { createUpstream, type Authorize, type Upstream, type Opened, type Timeouts } from './upstream.ts';

export interface ProviderReply {
  message: AssistantMessage;
  finishReason: FinishReason;
  stopSequence?: string | undefined;
  /** Undefined when the provider does not count. */
  usage: ChatUsage | undefined;
}

export interface ProviderDelta {
  content?: string;
  refused?: true;
  toolCalls?: ToolCallDelta[];
  thoughts?: ThoughtDelta[];
  finishReason?: FinishReason;
  stopSequence?: string;
  usage?: ChatUsage;
}

export interface EmbeddingRequest {
  input: string | string[] | number[] | number[][];
  dimensions?: number;
  encoding_format?: 'float' | 'base64';
}

export interface ProviderEmbeddings {
  data: { index: number; embedding: number[] | string; object: 'embedding' }[];
  /** Undefined when the provider does not count. */
  tokens: number | undefined;
}

export interface ListedModel {
  id: string;
  name?: string;
  contextWindow?: number;
  /** It takes pictures; left out where the provider does not say. */
  sees?: boolean;
}

export interface Provider {
  name: string;
  chat: (model: string, request: ChatRequest, signal?: AbortSignal) => Promise<ProviderReply>;
  /** What arrived together comes together. Ends normally only when the provider said that the answer is complete. */
  stream: (
    model: string,
    request: ChatRequest,
    signal?: AbortSignal,
    inTurn?: InTurn,
  ) => AsyncIterable<ProviderDelta[]>;
  models: (signal?: AbortSignal) => Promise<ListedModel[]>;
  /** Undefined: it makes none. */
  embed?: (model: string, request: EmbeddingRequest, signal?: AbortSignal) => Promise<ProviderEmbeddings>;
  /** Tokens of a prompt; undefined: it does not count without answering. */
  count?: (model: string, request: ChatRequest, signal?: AbortSignal) => Promise<number>;
  close: () => Promise<void>;
}

interface StreamReader {
  /** Takes the data of one event; `undefined` when it says nothing. */
  read: (data: string) => ProviderDelta | undefined;
  /** The whole answer has been read. */
  complete: () => boolean;
  /** Nothing more will come, although the connection may stay open. */
  ended: () => boolean;
}

interface EventReader {
  push: (bytes: Buffer) => Pick<SentEvent, 'data'>[];
  end: () => Pick<SentEvent, 'data'>[];
}

/** How one family of providers writes requests and answers. The readers throw `Unusable` on what they cannot use. */
export interface Wire {
  chatPath: string | ((model: string, stream: boolean) => string);
  /** Undefined: it lists nothing; whoever adds it says what it has. */
  modelsPath: string | undefined;
  headers: (apiKey: string | undefined) => Record<string, string>;
  /** What each request shows, where that is not the same for all: a signature, or a token that ends. */
  authorize?: (apiKey: string, baseUrl: URL) => Authorize;
  /** How events come in a stream; left out: as server-sent events. */
  events?: () => EventReader;
  body: (provider: string, model: string, request: ChatRequest, stream: boolean) => Record<string, unknown>;
  reply: (json: unknown) => ProviderReply;
  streamReader: () => StreamReader;
  models: (json: unknown) => ListedModel[];
  embeddings?: {
    path: string;
    body: (model: string, request: EmbeddingRequest) => Record<string, unknown>;
    reply: (json: unknown) => ProviderEmbeddings;
  };
  count?: {
    path: string;
    body: (provider: string, model: string, request: ChatRequest) => Record<string, unknown>;
    reply: (json: unknown) => number;
  };
}

/** No call comes near it: a provider that says more has not counted. */
const MAX_COUNT = 1_000_000_000;

/** A number of tokens as a provider gives it; undefined when it cannot be one. */
export const tokenCount = (given: unknown): number | undefined =>
  typeof given === 'number' && given >= 0 && given <= MAX_COUNT ? Math.round(given) : undefined;

/** Counts of a provider that tells what was read from or written to the cache apart from the other input. */
export function usageWithCache(counts: {
  input: unknown;
  output: unknown;
  read: unknown;
  written: unknown;
}): ChatUsage | undefined {
  const input = tokenCount(counts.input);
  const output = tokenCount(counts.output);
  if (input === undefined || output === undefined) return undefined;
  const read = tokenCount(counts.read) ?? 0;
  const written = tokenCount(counts.written) ?? 0;
  const prompt = input + read + written;
  if (prompt === 0 || prompt > MAX_COUNT) return undefined;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    ...(read + written > 0 && { prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written } }),
  };
}

/** An answer that cannot be used; the message says why. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
}

const END_GRACE_MS = 1_000;
/** The longest answers of the largest models have a third of it, one event for each token. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;

export interface ProviderOptions {
  name: string;
  wire: Wire;
  baseUrl: string;
  apiKey?: string;
  /** What it is said to have, in place of what it lists. */
  models?: readonly string[];
  timeouts: Timeouts;
  connections: number;
}

/** How a provider is reached, and what is made of its faults. */
interface Ways {
  name: string;
  wire: Wire;
  upstream: Upstream;
  refuse: (answer: Pick<Opened, 'status' | 'retryAfter'>, text: string) => never;
  broken: (error: unknown) => unknown;
}

const chatPathOf = ({ chatPath }: Wire, model: string, stream: boolean): string =>
  typeof chatPath === 'string' ? chatPath : chatPath(model, stream);

async function* streamFrom(
  { name, wire, upstream, refuse, broken }: Ways,
  model: string,
  request: ChatRequest,
  signal: AbortSignal | undefined,
  inTurn: InTurn,
): AsyncGenerator<ProviderDelta[]> {
  const sent = JSON.stringify(wire.body(name, model, request, true));
  const opened = await upstream.open(chatPathOf(wire, model, true), sent, signal);
  if (opened.status >= 300) refuse(opened, await textOf(opened));
  const events = wire.events?.() ?? createEventReader();
  const reader = wire.streamReader();
  const read = withoutRepeats(reader.read);
  const deltas = (found: Pick<SentEvent, 'data'>[]): ProviderDelta[] => {
    const said: ProviderDelta[] = [];
    for (const { data } of found) {
      // What follows the end is nobody's.
      if (reader.ended()) break;
      const delta = read(data);
      if (delta) said.push(delta);
    }
    return said;
  };
  let received = 0;
  const next = (): { found: ProviderDelta[]; isLast: boolean } => {
    const bytes = opened.take();
    received += bytes?.length ?? 0;
    if (received > MAX_STREAM_BYTES) throw new Unusable('the answer is too large');
    return { found: deltas(bytes ? events.push(bytes) : events.end()), isLast: bytes === undefined };
  };
  try {
    for (let isOver = false; !isOver && !reader.ended();) {
      const { found, isLast } = await inTurn(await opened.arrived(), next);
      if (found.length > 0) yield found;
      isOver = isLast;
    }
  } catch (error) {
    if (!(error instanceof ProviderError && reader.complete())) throw broken(error);
  } finally {
    // After its last event an answer is about to end by itself, and the connection can be used again.
    opened.leave(reader.ended() ? END_GRACE_MS : 0);
  }
  if (!reader.complete()) throw new ProviderError(name, 'broken', 'the stream ended in the middle');
}

export function createProvider(options: ProviderOptions): Provider {
  const { name, wire, baseUrl, apiKey, timeouts, connections } = options;
  const upstream = createUpstream({
    provider: name,
    baseUrl,
    headers: { ...wire.headers(apiKey), 'user-agent': 'troupe' },
    timeouts,
    connections,
    ...(wire.authorize && { authorize: told(name, wire.authorize(apiKey ?? '', new URL(baseUrl))) }),
  });
  const refuse = ({ status, retryAfter }: Pick<Opened, 'status' | 'retryAfter'>, text: string): never => {
    throw new ProviderError(name, 'status', withoutSecrets(errorText(text), apiKey), status, retryAfter);
  };
  const broken = (error: unknown): unknown =>
    error instanceof Unusable || error instanceof SyntaxError || error instanceof TypeError
      ? new ProviderError(name, 'broken', withoutSecrets(error.message, apiKey))
      : error;

  /** Asks and reads; what cannot be used is a fault of the provider. */
  async function ask<T>(path: string, body: object | undefined, read: (json: unknown) => T, signal?: AbortSignal) {
    const answer = await (body === undefined
      ? upstream.get(path, signal)
      : upstream.post(path, JSON.stringify(body), signal));
    if (answer.status >= 300) refuse(answer, answer.text);
    try {
      return read(parseAnswer(answer.text));
    } catch (error) {
      throw broken(error);
    }
  }

  const chat = (model: string, request: ChatRequest, signal?: AbortSignal): Promise<ProviderReply> =>
    ask(chatPathOf(wire, model, false), wire.body(name, model, request, false), wire.reply, signal);

  const ways: Ways = { name, wire, upstream, refuse, broken };
  const { embeddings, count } = wire;
  return {
    name,
    chat,
    stream: (model, request, signal, inTurn = atOnce) => streamFrom(ways, model, request, signal, inTurn),
    models: async (signal) => {
      if (options.models) return options.models.map((id) => ({ id }));
      if (wire.modelsPath === undefined)
        throw new ProviderError(name, 'broken', 'it lists no models: say which ones it has');
      return ask(wire.modelsPath, undefined, wire.models, signal);
    },
    ...(embeddings && {
      embed: (model: string, request: EmbeddingRequest, signal?: AbortSignal) =>
        ask(embeddings.path, embeddings.body(model, request), embeddings.reply, signal),
    }),
    ...(count && {
      count: (model: string, request: ChatRequest, signal?: AbortSignal) =>
        ask(count.path, count.body(name, model, request), count.reply, signal),
    }),
    close: upstream.close,
  };
}

/** Who cannot even show who asks has failed like a provider that cannot be reached. */
const told =
  (provider: string, authorize: Authorize): Authorize =>
  async (request) => {
    try {
      return await authorize(request);
    } catch (error) {
      if (error instanceof Unusable) throw new ProviderError(provider, 'status', error.message, 401);
      throw new ProviderError(provider, 'connection', error instanceof Error ? error.message : String(error));
    }
  };

/** Only as much as an error message needs. */
const MAX_ERROR_BYTES = 64 * 1024;

async function textOf(opened: Opened): Promise<string> {
  let text = '';
  while (text.length < MAX_ERROR_BYTES) {
    await opened.arrived();
    const bytes = opened.take();
    if (!bytes) break;
    text += bytes.toString('utf8');
  }
  opened.leave();
  return text;
}

/** The message out of `{error: {message}}`, `{error: text}` or `{message}`; otherwise the text as it is. */
function errorText(text: string): string {
  try {
    const json: unknown = parseAnswer(text);
    return messageOf(json) ?? text;
  } catch {
    return text;
  }
}

export function messageOf(json: unknown): string | undefined {
  // Gemini puts its errors into a list.
  if (Array.isArray(json)) return messageOf(json[0]);
  if (typeof json !== 'object' || json === null) return undefined;
  const { error, message } = json as { error?: unknown; message?: unknown };
  if (typeof error === 'string') return error;
  if (typeof error === 'object' && error !== null) return messageOf(error) ?? JSON.stringify(error);
  return typeof message === 'string' ? message : undefined;
}
