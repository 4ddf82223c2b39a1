import {
  chatWriter,
  namedProviders,
  providerOf,
  tryProvider,
  type Ai,
  type AssistantMessage,
  type ChatMessage,
  type ChatRequest,
} from '@troupe/ai';
import { backend } from '@troupe/contract';
import type { Catalogue } from '@troupe/domain';
import { iso, respond, serve, type Clock, type Server } from '@troupe/kernel';
import type { StoredResponses } from '../responses/service.ts';
import { createAccess } from './access.ts';
import { withAlgorithm } from './algorithm.ts';
import { createCalls, type CallsDeps } from './calls.ts';
import { v1Routes } from './v1-routes.ts';

export interface AiRoutesDeps extends CallsDeps {
  ai: Ai;
  catalogue: Catalogue;
  clock: Clock;
  responses: StoredResponses;
}

export function aiRoutes(server: Server, { ai, catalogue, clock, ownKey, responses }: AiRoutesDeps): void {
  const access = createAccess(server.settings.ADMIN_EMAILS);
  const calls = createCalls(server, { ai, ownKey });
  const now = () => iso(clock());
  v1Routes(server, { ai, catalogue, clock, access, calls, responses });

  serve(server, backend.ai.getHealth, async () => {
    const { status, providers } = await ai.health();
    if (status !== 'error') return { status, providers, timestamp: now() };
    return respond({ status: 503, body: { status, error: 'AI service unavailable' } });
  });

  serve(server, backend.ai.listModels, async () => {
    const models = await ai.models();
    const providers: Record<string, number> = {};
    for (const { provider } of models) providers[provider] = (providers[provider] ?? 0) + 1;
    return { models, count: models.length, providers, timestamp: now() };
  });

  serve(server, backend.ai.listModelsOf, async ({ params: { provider } }) => {
    const models = await ai.models(provider);
    return { provider, models, count: models.length, timestamp: now() };
  });

  serve(server, backend.ai.selectModel, async ({ body: { taskType }, request }) => {
    const { plan } = access.byHeaders(request.headers);
    return { model: await ai.select(taskType, plan), taskType, timestamp: now() };
  });

  serve(server, backend.ai.chat, ({ body, request }) => {
    const scope = access.byHeaders(request.headers);
    const { algorithmMode, stream, messages, ...rest } = body;
    const chat: ChatRequest = {
      ...rest,
      messages: algorithmMode ? withAlgorithm(messages as ChatMessage[]) : (messages as ChatMessage[]),
    };
    const created = Math.floor(clock().getTime() / 1000);
    if (stream) return calls.stream(chat, scope, request, chatWriter(created, false));
    return calls.answer(chat, scope, request, ({ id, model, provider, message, usage }) => ({
      id,
      model,
      provider,
      message: { role: message.role, content: message.content, ...calledIn(message) },
      usage,
      timestamp: now(),
    }));
  });
}

const calledIn = ({ tool_calls: calls }: AssistantMessage) => (calls ? { tool_calls: calls } : {});

/** For administrators, through web: what the environment names, and what comes of trying another one. */
export function providerRoutes(server: Server, catalogue: Catalogue): void {
  serve(server, backend.providers.list, () => ({
    providers: namedProviders(server.settings).map((name) => ({ name, baseUrl: null })),
  }));
  serve(server, backend.providers.test, ({ body: { kind, name = kind, ...given } }) =>
    tryProvider(() => providerOf(server.settings, { kind, name, ...given }), kind, catalogue),
  );
}
