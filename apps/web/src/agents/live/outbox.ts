import type { LiveTopic } from '@troupe/contract';
import type { ServerEvent } from '@troupe/kernel';

/** What waits for a reader. Conversations wait for room; what changed is told once, however often it changes. */
export interface Outbox {
  /** Resolves when there is room for more. */
  put: (event: ServerEvent) => Promise<void>;
  change: (topic: LiveTopic) => void;
  ping: () => void;
  /** Undefined: the reader is gone. */
  take: () => Promise<ServerEvent | undefined>;
}

const ROOM = 200;

export function openOutbox(signal: AbortSignal): Outbox {
  const waiting: ServerEvent[] = [];
  const topics = new Set<LiveTopic>();
  let isPinged = false;
  let wake = Promise.withResolvers<void>();
  let room: PromiseWithResolvers<void> | undefined;
  const stir = (): void => wake.resolve();
  signal.addEventListener('abort', () => {
    wake.resolve();
    room?.resolve();
  });

  function next(): ServerEvent | undefined {
    if (topics.size > 0) {
      const data = { topics: [...topics] };
      topics.clear();
      return { event: 'changed', data };
    }
    const event = waiting.shift();
    if (waiting.length < ROOM) {
      room?.resolve();
      room = undefined;
    }
    if (event || !isPinged) return event;
    isPinged = false;
    return { event: 'ping', data: {} };
  }

  return {
    async put(event) {
      if (signal.aborted) return;
      waiting.push(event);
      stir();
      if (waiting.length < ROOM) return;
      room ??= Promise.withResolvers<void>();
      await room.promise;
    },
    change(topic) {
      topics.add(topic);
      stir();
    },
    ping() {
      isPinged = true;
      stir();
    },
    async take() {
      while (!signal.aborted) {
        const found = next();
        if (found) return found;
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
      return undefined;
    },
  };
}
