import type { LiveTopic, StageChange } from '@troupe/contract';
import type { ServerEvent } from '@troupe/kernel';

/** What waits for a reader. Conversations wait for room; what changed is told once, however often it changes. */
export interface Outbox {
  /** Waits for room; only then is the event made. */
  put: (make: () => ServerEvent, characters: number) => Promise<void>;
  change: (topic: LiveTopic) => void;
  /** What waits already is told together with it, each agent as it is last. */
  stage: (change: StageChange) => void;
  ping: () => void;
  /** Undefined: the reader is gone. */
  take: () => Promise<ServerEvent | undefined>;
}

/** Of what waits: a reader who takes nothing costs no more. */
const ROOM = { events: 200, characters: 256 * 1024 };

/** However many changes a slow reader has missed, they are no more than there are agents. */
function together(older: StageChange, newer: StageChange): StageChange {
  const later = new Set([...newer.agents.map(({ id }) => id), ...newer.gone]);
  return {
    ...newer,
    agents: [...older.agents.filter(({ id }) => !later.has(id)), ...newer.agents],
    gone: [...older.gone.filter((id) => !later.has(id)), ...newer.gone],
  };
}

/** What is told once, together with what waits already. */
function createMerged<T>(stir: () => void, merge: (older: T, newer: T) => T) {
  let waiting: T | undefined;
  return {
    add(given: T): void {
      waiting = waiting === undefined ? given : merge(waiting, given);
      stir();
    },
    take(): T | undefined {
      const found = waiting;
      waiting = undefined;
      return found;
    },
  };
}

export function openOutbox(signal: AbortSignal): Outbox {
  const waiting: { event: ServerEvent; characters: number }[] = [];
  let characters = 0;
  let wake = Promise.withResolvers<void>();
  const stir = (): void => wake.resolve();
  const changes = createMerged<ReadonlySet<LiveTopic>>(stir, (older, newer) => new Set([...older, ...newer]));
  const stage = createMerged(stir, together);
  const pings = createMerged(stir, () => true);
  let room: PromiseWithResolvers<void> | undefined;
  signal.addEventListener('abort', () => {
    wake.resolve();
    room?.resolve();
  });

  const hasRoom = (): boolean => waiting.length < ROOM.events && characters < ROOM.characters;

  function next(): ServerEvent | undefined {
    const topics = changes.take();
    if (topics) return { event: 'changed', data: { topics: [...topics] } };
    const staged = stage.take();
    if (staged) return { event: 'stage', data: staged };
    const first = waiting.shift();
    characters -= first?.characters ?? 0;
    if (hasRoom()) {
      room?.resolve();
      room = undefined;
    }
    if (first) return first.event;
    return pings.take() ? { event: 'ping', data: {} } : undefined;
  }

  return {
    async put(make, size) {
      // Many conversations have one reader: each waits before it adds what may be large.
      while (!signal.aborted && !hasRoom()) await (room ??= Promise.withResolvers<void>()).promise;
      if (signal.aborted) return;
      waiting.push({ event: make(), characters: size });
      characters += size;
      stir();
    },
    change: (topic) => changes.add(new Set([topic])),
    stage: stage.add,
    ping: () => pings.add(true),
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
