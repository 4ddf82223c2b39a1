import type { Ai, CallOptions, ChatRequest, ChatResult, OwnKey, StreamWriter } from '@troupe/ai';
import { AppError, type Answer, type RequestInfo, type Server } from '@troupe/kernel';
import type { Caller } from './access.ts';
import { streamed } from './stream.ts';

export interface CallsDeps {
  ai: Ai;
  /** Of agents that call from outside. */
  ownKey: (headers: object) => OwnKey | undefined;
}

/** The one way from a request to a model, whatever protocol the request came in. */
export function createCalls(server: Server, { ai, ownKey }: CallsDeps) {
  /** The client has gone or the server is closing: neither is a fault to report. */
  function givenUp(error: unknown, signal: AbortSignal): unknown {
    if (!signal.aborted) return error;
    return server.closing.aborted
      ? new AppError(503, 'The service is stopping')
      : new AppError(499, 'Client closed request');
  }

  async function within<T>(
    scope: Caller,
    request: RequestInfo,
    work: (options: CallOptions & { signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const options = { scope, signal: request.signal(), ownKey: ownKey(request.headers) };
    try {
      return await work(options);
    } catch (error) {
      throw givenUp(error, options.signal);
    }
  }

  return {
    within,
    answer: <T>(
      chat: ChatRequest,
      scope: Caller,
      request: RequestInfo,
      told: (result: ChatResult) => T | Promise<T>,
    ): Promise<T> => within(scope, request, async (options) => told(await ai.chat(chat, options))),
    stream: (chat: ChatRequest, scope: Caller, request: RequestInfo, writer: StreamWriter): Promise<Answer> =>
      within(scope, request, (options) =>
        streamed(ai.batches(chat, options), writer, {
          log: server.log,
          explain: (error) => givenUp(error, options.signal),
        }),
      ),
  };
}

export type Calls = ReturnType<typeof createCalls>;
