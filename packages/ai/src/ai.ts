import type { Catalogue } from '@troupe/domain';
import { childOf, currentTrace, newId, withTrace, type Log, type Trace } from '@troupe/kernel';
import { createAccounting, dearest, type Charged } from './accounting.ts';
import { createDirectory, type Directory } from './directory.ts';
import { createEmbeddings, type EmbeddingRequest, type EmbeddingResult } from './embeddings.ts';
import { ProviderError, toAppError } from './errors.ts';
import { createAnswerTurns } from './in-turn.ts';
import type { Bound, Meter, Reservation } from './meter.ts';
import { createOwnKeys } from './own-keys.ts';
import type { Provider, ProviderDelta, ProviderReply } from './provider.ts';
import { createRouting, type Candidate, type Routing } from './routing.ts';
import { answerSize, estimateUsage, maxPromptTokens, sizeOf } from './tokens.ts';
import type {
  CallOptions,
  CallScope,
  ChatDelta,
  ChatRequest,
  ChatResult,
  ChatUsage,
  FinishReason,
  ModelClient,
  OwnKey,
} from './types.ts';

export interface AiOptions {
  /** The first is the default. */
  providers: readonly Provider[];
  catalogue: Catalogue;
  log: Log;
  meter?: Meter;
  /** For calls with a key of the caller's own; without it such keys are not known here. */
  ownProvider?: (name: string, apiKey: string) => Provider | undefined;
}

export interface Ai extends ModelClient, Pick<Directory, 'models' | 'health'> {
  /** The model that a call without one would get. */
  select: (taskType: string, plan?: string) => Promise<{ id: string; provider: string }>;
  /** Whether a provider is there that serves this model. */
  serves: (model: string) => boolean;
  /** As `stream`, in fewer steps: what arrived together comes together. */
  batches: (request: ChatRequest, options?: CallOptions) => AsyncIterable<ChatDelta[]>;
  embed: (model: string, request: EmbeddingRequest, options?: CallOptions) => Promise<EmbeddingResult>;
  /** Tokens of the prompt, as its provider counts them or else as we guess. */
  count: (request: ChatRequest, options?: CallOptions) => Promise<number>;
  close: () => Promise<void>;
}

/** What a caller under a cap gets who does not say how long the answer may be: without a limit there is no bound. */
const CAPPED_MAX_TOKENS = 4096;
const ANONYMOUS: CallScope = { userId: 'anonymous' };

interface Call extends Charged {
  request: ChatRequest;
  candidates: Candidate[];
}

interface Parts {
  routing: Routing;
  directory: Directory;
  ownKeys: ReturnType<typeof createOwnKeys>;
  accounting: ReturnType<typeof createAccounting>;
  turns: ReturnType<typeof createAnswerTurns>;
}

/** Before anybody is asked: who may be, and with what money. */
function createBeginning({ routing, directory, ownKeys, accounting }: Parts) {
  /** Most calls wait for nothing before they are sent, and a promise for nothing costs as much as looking. */
  function begin(given: ChatRequest, options: CallOptions): Promise<Call> | Call {
    const { scope: owner = ANONYMOUS, runId, signal, ownKey } = options;
    signal?.throwIfAborted();
    const scope = runId === undefined ? owner : { ...owner, runId };
    const started = { started: performance.now(), trace: traced(currentTrace()) };
    const own = ownKey && ownKeys.candidates(ownKey, given.model);
    if (own) return { request: given, scope, candidates: own, isOwn: true, reservation: undefined, ...started };
    if (!routing.isFixed && given.model === undefined)
      return directory.asked().then(() => admit(given, scope, started, signal));
    return admit(given, scope, started, signal);
  }

  function admit(
    given: ChatRequest,
    scope: CallScope,
    started: Pick<Call, 'started' | 'trace'>,
    signal: AbortSignal | undefined,
  ): Promise<Call> | Call {
    const candidates = routing.candidates(given.model, given.taskType, scope.plan);
    const free: Call = { request: given, scope, candidates, isOwn: false, reservation: undefined, ...started };
    const pending = accounting.reserve(scope, () => boundOf(given, candidates));
    return pending ? withReservation(free, pending, signal) : free;
  }

  async function withReservation(
    free: Call,
    pending: Promise<Reservation | undefined>,
    signal: AbortSignal | undefined,
  ): Promise<Call> {
    const reservation = await pending;
    if (signal?.aborted && reservation) await accounting.settle(reservation, 0, 0);
    signal?.throwIfAborted();
    if (!reservation) return free;
    const request = { ...free.request, max_tokens: free.request.max_tokens ?? CAPPED_MAX_TOKENS };
    return { ...free, request, reservation };
  }

  return begin;
}
type Begin = ReturnType<typeof createBeginning>;

/** What is made of calls that come to nothing. */
function createFailing({ accounting }: Parts, log: Log) {
  async function fail(call: Call, candidate: Candidate, error: unknown, options: CallOptions): Promise<never> {
    // Whoever gives up on a call has sent it all the same: the provider has read the prompt.
    const isGivenUp = !(error instanceof ProviderError);
    if (isGivenUp) await giveUp(call, candidate, estimateUsage(call.request, 0), options);
    else
      await accounting.end(call, candidate, { usage: NOTHING, success: false, estimated: false, failure: error.kind });
    throw toAppError(error);
  }

  async function giveUp(call: Call, candidate: Candidate, usage: ChatUsage, { onGivenUp }: CallOptions): Promise<void> {
    const ended = { usage, success: false, estimated: true, failure: 'given_up' };
    const micros = await accounting.end(call, candidate, ended);
    onGivenUp?.({ model: candidate.id, provider: candidate.provider.name, usage, costMicros: micros });
  }

  /** Whether the next candidate may try; what failed is logged either way. */
  function mayFallBack(error: unknown, { provider, id }: Candidate, next?: Candidate): boolean {
    if (!(error instanceof ProviderError)) return false;
    const { kind, status, detail } = error;
    log.warn({ provider: provider.name, model: id, kind, status, detail }, 'an AI provider failed');
    // The aggregator calls a name that it does not know a fault of the request; the model's own vendor may know it.
    return next !== undefined && (!error.callersFault || next.id === id);
  }

  return { fail, giveUp, mayFallBack };
}
type Failing = ReturnType<typeof createFailing>;

function createChat({ directory, accounting }: Parts, begin: Begin, { fail, mayFallBack }: Failing) {
  async function chat(given: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    const begun = begin(given, options);
    const call = begun instanceof Promise ? await begun : begun;
    const { candidates, request } = call;
    for (const [index, candidate] of candidates.entries()) {
      let reply: ProviderReply;
      try {
        const given = sent(directory, candidate, request, options);
        reply = await withTrace(call.trace, () => candidate.provider.chat(...given));
      } catch (error) {
        if (!mayFallBack(error, candidate, candidates[index + 1])) await fail(call, candidate, error, options);
        continue;
      }
      return answered(call, candidate, reply);
    }
    throw new Error('a call without candidates');
  }

  function answered(call: Call, candidate: Candidate, reply: ProviderReply): Promise<ChatResult> | ChatResult {
    const usage = reply.usage ?? estimateUsage(call.request, answerSize(reply.message));
    const usageEstimated = reply.usage === undefined;
    const finishReason = endOf(reply.finishReason, (reply.message.tool_calls ?? []).length > 0);
    const result = (costMicros: number): ChatResult => ({
      id: `chatcmpl-${newId()}`,
      model: candidate.id,
      provider: candidate.provider.name,
      message: reply.message,
      finishReason,
      stopSequence: reply.stopSequence,
      usage,
      usageEstimated,
      costMicros,
    });
    const micros = accounting.end(call, candidate, { usage, success: true, estimated: usageEstimated, finishReason });
    return typeof micros === 'number' ? result(micros) : micros.then(result);
  }

  return chat;
}

function createBatches({ directory, accounting, turns }: Parts, begin: Begin, { fail, giveUp, mayFallBack }: Failing) {
  /** The first candidate that says anything serves; after its first piece there is no way back. */
  async function openFirst(call: Call, options: CallOptions) {
    const { candidates, request, scope } = call;
    const inTurn = turns(scope.userId, options.signal);
    for (const [index, candidate] of candidates.entries()) {
      const given = sent(directory, candidate, request, options);
      const pieces = candidate.provider.stream(...given, inTurn)[Symbol.asyncIterator]();
      try {
        return { candidate, pieces, opening: await withTrace(call.trace, () => opening(pieces)) };
      } catch (error) {
        if (!mayFallBack(error, candidate, candidates[index + 1])) await fail(call, candidate, error, options);
      }
    }
    throw new Error('a call without candidates');
  }

  async function* batches(given: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatDelta[]> {
    const call = await begin(given, options);
    const { candidate, pieces, opening } = await openFirst(call, options);
    const head = { id: `chatcmpl-${newId()}`, model: candidate.id, provider: candidate.provider.name };
    const tally = createTally();
    const usageSoFar = () => tally.usage() ?? estimateUsage(call.request, tally.bytes());
    let over = false;
    try {
      for (let item: IteratorResult<ProviderDelta[]> = opening; !item.done; item = await pieces.next()) {
        const said: ChatDelta[] = [];
        for (const piece of item.value) {
          tally.add(piece);
          if (isSaid(piece)) say(said, head, piece);
        }
        if (said.length > 0) yield said;
      }
      over = true;
      const usage = usageSoFar();
      const usageEstimated = tally.usage() === undefined;
      // Said last, because some providers count after they have finished.
      const [finishReason, stopSequence] = [endOf(tally.finishReason(), tally.hasCalls()), tally.stopSequence()];
      const ended = { usage, success: true, estimated: usageEstimated, finishReason };
      const micros = await accounting.end(call, candidate, ended);
      yield [{ ...head, finishReason, stopSequence, usage, usageEstimated, costMicros: micros }];
    } catch (error) {
      if (error instanceof ProviderError) mayFallBack(error, candidate);
      throw toAppError(error);
    } finally {
      if (!over) {
        // Broken off, by the provider or by the reader: what was said so far has been paid for.
        await pieces.return?.();
        await giveUp(call, candidate, usageSoFar(), options);
      }
    }
  }

  return batches;
}

/** Costs nothing, so it is neither set aside nor recorded. */
function createCount({ routing, ownKeys }: Parts, { mayFallBack }: Failing): Ai['count'] {
  return async (request, { scope, signal, ownKey } = {}) => {
    const own = ownKey && ownKeys.candidates(ownKey, request.model);
    const [first] = own ?? routing.candidates(request.model, undefined, scope?.plan);
    if (first?.provider.count) {
      try {
        return await first.provider.count(first.name, request, signal);
      } catch (error) {
        mayFallBack(error, first);
        if (!(error instanceof ProviderError) || error.callersFault) throw toAppError(error);
      }
    }
    return estimateUsage(request, 0).prompt_tokens;
  };
}

export function createAi({ providers, catalogue, log, meter, ownProvider = () => undefined }: AiOptions): Ai {
  const routing = createRouting(providers, catalogue, (name) => directory.listed(name));
  const directory = createDirectory({ providers, catalogue, log, served: routing.served });
  const ownKeys = createOwnKeys(ownProvider, catalogue);
  const accounting = createAccounting(meter, log);
  const parts: Parts = { routing, directory, ownKeys, accounting, turns: createAnswerTurns() };
  const begin = createBeginning(parts);
  const failing = createFailing(parts, log);
  const chat = createChat(parts, begin, failing);
  const batches = createBatches(parts, begin, failing);

  async function* stream(given: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatDelta> {
    for await (const deltas of batches(given, options)) yield* deltas;
  }

  const embed = createEmbeddings({
    accounting,
    mayFallBack: failing.mayFallBack,
    candidates: (model, { scope, ownKey }) => {
      const own = ownKey && ownKeys.candidates(ownKey, model);
      return own ? { found: own, isOwn: true } : { found: routing.embedding(model, scope?.plan), isOwn: false };
    },
  });

  return {
    chat,
    stream,
    batches,
    embed,
    count: createCount(parts, failing),
    serves: routing.served,
    async select(taskType, plan) {
      if (!routing.isFixed) await directory.asked();
      const [first] = routing.candidates(undefined, taskType, plan);
      return { id: first!.id, provider: first!.provider.name };
    },
    models: directory.models,
    health: directory.health,
    close: async () => {
      await Promise.all([ownKeys, ...providers].map((one) => one.close()));
    },
  };
}

const boundOf = (request: ChatRequest, candidates: Candidate[]): Bound =>
  dearest(candidates, maxPromptTokens(request), request.max_tokens ?? CAPPED_MAX_TOKENS);

const NOTHING: ChatUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

const traced = (trace: Trace | undefined): Trace | undefined => trace && childOf(trace);

/** What a provider is asked with. */
function sent(
  { sees }: Pick<Directory, 'sees'>,
  { provider, name, id }: Candidate,
  request: ChatRequest,
  { pictures, signal }: CallOptions,
): [name: string, request: ChatRequest, signal: AbortSignal | undefined] {
  const isBlind = pictures === 'seen' && !sees(provider.name, name, id);
  return [name, isBlind ? withoutPictures(request) : request, signal];
}

/** For a model that does not see: what is said beside the pictures names them. */
function withoutPictures(request: ChatRequest): ChatRequest {
  const messages = request.messages.map((message) =>
    message.role === 'user' && Array.isArray(message.content)
      ? { ...message, content: message.content.filter((part) => part.type !== 'image_url') }
      : message,
  );
  return { ...request, messages };
}

/** Words that arrived together are one piece: a fast provider's token would else cost ten times itself. */
function say(said: ChatDelta[], head: Pick<ChatDelta, 'id' | 'model' | 'provider'>, piece: ProviderDelta): void {
  const { content, toolCalls, thoughts, refused } = piece;
  const last = said.at(-1);
  const isText = content !== undefined && !toolCalls && !thoughts && !refused;
  if (isText && last?.content !== undefined && !last.toolCalls && !last.thoughts && !last.refused)
    last.content += content;
  else
    said.push(refused ? { ...head, content, refused, toolCalls, thoughts } : { ...head, content, toolCalls, thoughts });
}

/** The same client on somebody's account: what an agent is given. */
export const withScope = (client: ModelClient, scope: CallScope, ownKey?: () => OwnKey | undefined): ModelClient => {
  const on = (options?: CallOptions): CallOptions => ({ ...options, scope, ...(ownKey && { ownKey: ownKey() }) });
  return {
    chat: (request, options) => client.chat(request, on(options)),
    stream: (request, options) => client.stream(request, on(options)),
  };
};

const isSaid = ({ content, toolCalls, thoughts }: ProviderDelta): boolean =>
  content !== undefined || toolCalls !== undefined || thoughts !== undefined;

/** Up to the first piece that says something: as long as nothing was said, another can still take over. */
async function opening(pieces: AsyncIterator<ProviderDelta[]>): Promise<{ done: false; value: ProviderDelta[] }> {
  const value: ProviderDelta[] = [];
  for (let item = await pieces.next(); !item.done; item = await pieces.next()) {
    value.push(...item.value);
    if (item.value.some(isSaid)) break;
  }
  return { done: false, value };
}

/** Clients run calls when they are told that there are some, and wait for them when they are told so: it has to be true. */
function endOf(given: FinishReason | undefined, hasCalls: boolean): FinishReason {
  if (hasCalls) return given === undefined || given === 'stop' ? 'tool_calls' : given;
  return given === undefined || given === 'tool_calls' ? 'stop' : given;
}

/** What a stream has said and counted so far. */
function createTally() {
  let bytes = 0;
  let hasCalls = false;
  let usage: ChatUsage | undefined;
  let finishReason: FinishReason | undefined;
  let stopSequence: string | undefined;
  return {
    add(delta: ProviderDelta): void {
      bytes += sizeOf(delta.content);
      hasCalls ||= delta.toolCalls !== undefined;
      for (const call of delta.toolCalls ?? []) bytes += sizeOf(call.function?.name) + sizeOf(call.function?.arguments);
      for (const thought of delta.thoughts ?? []) bytes += sizeOf(thought.text);
      usage = delta.usage ?? usage;
      finishReason = delta.finishReason ?? finishReason;
      stopSequence = delta.stopSequence ?? stopSequence;
    },
    bytes: () => bytes,
    hasCalls: () => hasCalls,
    usage: () => usage,
    finishReason: () => finishReason,
    stopSequence: () => stopSequence,
  };
}
