import type { Ai, CallOptions, ChatMessage, ChatRequest, ChatResult, OwnKey } from '@troupe/ai';
import {
  aiChat,
  chatCompletions,
  getAiHealth,
  listAiModels,
  listOpenaiModels,
  listProviderModels,
  selectAiModel,
} from '@troupe/contract';
import { planAllows, type Catalogue } from '@troupe/domain';
import { AppError, iso, respond, serve, type Clock, type RequestInfo, type Server } from '@troupe/kernel';
import { createAccess, type Caller } from './access.ts';
import { withAlgorithm } from './algorithm.ts';
import { openaiStream } from './stream.ts';

export interface AiRoutesDeps {
  ai: Ai;
  catalogue: Catalogue;
  clock: Clock;
  /** Of agents that call from outside. */
  ownKey: (headers: object) => OwnKey | undefined;
}

/** As if they had been left out. */
function withoutNulls(given: Record<string, unknown>): ChatRequest {
  for (const name in given) if (given[name] === null) delete given[name];
  return given as unknown as ChatRequest;
}

export function aiRoutes(server: Server, { ai, catalogue, clock, ownKey }: AiRoutesDeps): void {
  const access = createAccess(server.settings.ADMIN_EMAILS);
  const now = () => iso(clock());
  const seconds = () => Math.floor(clock().getTime() / 1000);

  serve(server, getAiHealth, async () => {
    const { status, providers } = await ai.health();
    if (status !== 'error') return { status, providers, timestamp: now() };
    return respond({ status: 503, body: { status, error: 'AI service unavailable' } });
  });

  serve(server, listAiModels, async () => {
    const models = await ai.models();
    const providers: Record<string, number> = {};
    for (const { provider } of models) providers[provider] = (providers[provider] ?? 0) + 1;
    return { models, count: models.length, providers, timestamp: now() };
  });

  serve(server, listProviderModels, async ({ params: { provider } }) => {
    const models = await ai.models(provider);
    return { provider, models, count: models.length, timestamp: now() };
  });

  serve(server, selectAiModel, async ({ body: { taskType }, request }) => {
    const { plan } = access.byHeaders(request.headers);
    return { model: await ai.select(taskType, plan), taskType, timestamp: now() };
  });

  serve(server, aiChat, ({ body, request }) => {
    const scope = access.byHeaders(request.headers);
    const { algorithmMode, stream, messages, ...rest } = body;
    const chat: ChatRequest = {
      ...rest,
      messages: algorithmMode ? withAlgorithm(messages as ChatMessage[]) : (messages as ChatMessage[]),
    };
    if (stream) return streamed(chat, scope, request, false);
    return answered(chat, scope, request, ({ id, model, provider, message, usage }) => ({
      id,
      model,
      provider,
      message,
      usage,
      timestamp: now(),
    }));
  });

  serve(server, chatCompletions, ({ user, body, request }) => {
    const scope = access.byKey(user, request.headers);
    const { stream, stream_options: options, max_completion_tokens: limit, ...rest } = body;
    const chat = withoutNulls({ ...rest, max_tokens: limit ?? rest.max_tokens });
    if (stream) return streamed(chat, scope, request, options?.include_usage ?? false);
    return answered(chat, scope, request, ({ id, model, provider, message, finishReason, usage }) => ({
      id,
      object: 'chat.completion' as const,
      created: seconds(),
      model,
      provider,
      choices: [{ index: 0, message: { ...message, refusal: null }, logprobs: null, finish_reason: finishReason }],
      usage,
    }));
  });

  serve(server, listOpenaiModels, async ({ user, request }) => {
    const { plan } = access.byKey(user, request.headers);
    const models = (await ai.models()).filter(
      (model) => model.available && (plan === undefined || planAllows(catalogue, plan, model.id)),
    );
    const data = models.map(({ id, provider }) => ({ id, object: 'model' as const, created: 0, owned_by: provider }));
    return { object: 'list' as const, data };
  });

  async function answered<T>(
    chat: ChatRequest,
    scope: Caller,
    request: RequestInfo,
    told: (result: ChatResult) => T,
  ): Promise<T> {
    const options: CallOptions = { scope, signal: request.signal(), ownKey: ownKey(request.headers) };
    try {
      return told(await ai.chat(chat, options));
    } catch (error) {
      throw givenUp(error, options.signal!);
    }
  }

  async function streamed(chat: ChatRequest, scope: Caller, request: RequestInfo, includeUsage: boolean) {
    const signal = request.signal();
    const explain = (error: unknown) => givenUp(error, signal);
    try {
      const batches = ai.batches(chat, { scope, signal, ownKey: ownKey(request.headers) });
      return await openaiStream(batches, { includeUsage, created: seconds(), log: server.log, explain });
    } catch (error) {
      throw explain(error);
    }
  }

  /** The client has gone or the server is closing: neither is a fault to report. */
  function givenUp(error: unknown, signal: AbortSignal): unknown {
    if (!signal.aborted) return error;
    return server.closing.aborted
      ? new AppError(503, 'The service is stopping')
      : new AppError(499, 'Client closed request');
  }
}
