import type { ChatDelta } from '@troupe/ai';
import { AppError, eventTexts, type Answer, type Log } from '@troupe/kernel';

interface StreamOptions {
  includeUsage: boolean;
  created: number;
  log: Log;
  /** What to say of a failure; anything but an AppError is a fault of ours. */
  explain: (error: unknown) => unknown;
}

/**
 * Server-sent events in OpenAI's chunk shape. Resolves with the first piece in hand: whatever fails before it is an
 * answer with a status, whatever fails after it is an event. What arrived together goes out in one write.
 */
export async function openaiStream(
  batches: AsyncIterable<ChatDelta[]>,
  { includeUsage, created, log, explain }: StreamOptions,
): Promise<Answer> {
  const pieces = batches[Symbol.asyncIterator]();
  const first = await pieces.next();

  async function* events(): AsyncGenerator<string> {
    let role: string | undefined = 'assistant';
    let head = '';
    try {
      for (let item = first; !item.done; item = await pieces.next()) {
        let text = '';
        for (const { id, model, content, toolCalls, finishReason, usage } of item.value) {
          head ||= `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)}`;
          const delta = JSON.stringify({ role, content, tool_calls: toolCalls });
          role = undefined;
          text += `${head},"choices":[{"index":0,"delta":${delta},"finish_reason":${JSON.stringify(finishReason ?? null)}}]}\n\n`;
          if (usage && includeUsage) text += `${head},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;
          if (finishReason) text += 'data: [DONE]\n\n';
        }
        yield text;
      }
    } catch (error) {
      const told = explain(error);
      if (!(told instanceof AppError)) log.error({ err: told }, 'a stream failed');
      const [message, code] = told instanceof AppError ? [told.message, told.status] : ['Internal server error', 500];
      yield `data: ${JSON.stringify({ error: { message, type: 'provider_error', code } })}\n\n`;
    } finally {
      await pieces.return?.();
    }
  }
  return eventTexts(events());
}
