import type { ChatDelta, Failure, StreamWriter } from '@troupe/ai';
import { answerable, eventTexts, type Answer, type Log } from '@troupe/kernel';

interface StreamOptions {
  log: Log;
  /** What to say of a failure; anything but an AppError is a fault of ours. */
  explain: (error: unknown) => unknown;
}

/**
 * Server-sent events in the shape of the caller's protocol. Resolves with the first piece in hand: whatever fails before
 * it is an answer with a status, whatever fails after it is an event. What arrived together goes out in one write.
 */
export async function streamed(
  batches: AsyncIterable<ChatDelta[]>,
  writer: StreamWriter,
  { log, explain }: StreamOptions,
): Promise<Answer> {
  const pieces = batches[Symbol.asyncIterator]();
  const first = await pieces.next();

  async function* events(): AsyncGenerator<string> {
    try {
      for (let item = first; !item.done; item = await pieces.next()) {
        const text = writer.write(item.value);
        const settled = writer.settled?.();
        if (settled) await settled;
        yield text;
      }
    } catch (error) {
      const told = explain(error);
      if (!answerable(told)) log.error({ err: told }, 'a stream failed');
      yield writer.fail(failureOf(told));
    } finally {
      await pieces.return?.();
    }
  }
  return eventTexts(events());
}

function failureOf(told: unknown): Failure {
  const known = answerable(told);
  if (!known) return { status: 500, message: 'Internal server error' };
  const { success: _, ...more } = known.extra;
  return { status: known.status, message: known.message, more };
}
