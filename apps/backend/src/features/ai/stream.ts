import type { ChatDelta } from '@troupe/ai';
import { AppError, type Log, type ServerEvent } from '@troupe/kernel';

/**
 * Server-sent events in OpenAI's chunk shape. Resolves with the first piece in hand: whatever fails before it is an
 * answer with a status, whatever fails after it is an event.
 */
export async function openaiEvents(
  deltas: AsyncIterable<ChatDelta>,
  { includeUsage, created, log }: { includeUsage: boolean; created: number; log: Log },
): Promise<AsyncIterable<ServerEvent>> {
  const pieces = deltas[Symbol.asyncIterator]();
  const first = await pieces.next();

  async function* events(): AsyncGenerator<ServerEvent> {
    let isFirst = true;
    try {
      for (let item = first; !item.done; item = await pieces.next()) {
        const { id, model, content, toolCalls, finishReason, usage } = item.value;
        const head = { id, object: 'chat.completion.chunk', created, model };
        const delta = {
          ...(isFirst ? { role: 'assistant' } : {}),
          ...(content === undefined ? {} : { content }),
          ...(toolCalls ? { tool_calls: toolCalls } : {}),
        };
        isFirst = false;
        yield { data: { ...head, choices: [{ index: 0, delta, finish_reason: finishReason ?? null }] } };
        if (usage && includeUsage) yield { data: { ...head, choices: [], usage } };
      }
      yield { data: '[DONE]' };
    } catch (error) {
      if (!(error instanceof AppError)) log.error({ err: error }, 'a stream failed');
      const message = error instanceof AppError ? error.message : 'Internal server error';
      yield {
        data: { error: { message, type: 'provider_error', code: error instanceof AppError ? error.status : 500 } },
      };
    } finally {
      await pieces.return?.();
    }
  }
  return events();
}
