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

function createStaged() {
  let waiting: StageChange | undefined;
  return {
    add(change: StageChange): void {
      waiting = waiting ? together(waiting, change) : change;
    },
    take(): StageChange | undefined {
      const change = waiting;
      waiting = undefined;
      return change;
    },
  };
}

export function openOutbox(signal: AbortSignal): Outbox {
  const waiting: { event: ServerEvent; characters: number }[] = [];
  let characters = 0;
  const topics = new Set<LiveTopic>();
  const stage = createStaged();
  let isPinged = false;
  let wake = Promise.withResolvers<void>();
  let room: PromiseWithResolvers<void> | undefined;
  const stir = (): void => wake.resolve();
  signal.addEventListener('abort', () => {
    wake.resolve();
    room?.resolve();
  });

  const hasRoom = (): boolean => waiting.length < ROOM.events && characters < ROOM.characters;

  function next(): ServerEvent | undefined {
    if (topics.size > 0) {
      const data = { topics: [...topics] };
      topics.clear();
      return { event: 'changed', data };
    }
    const staged = stage.take();
    if (staged) return { event: 'stage', data: staged };
    const first = waiting.shift();
    characters -= first?.characters ?? 0;
    if (hasRoom()) {
      room?.resolve();
      room = undefined;
    }
    if (first || !isPinged) return first?.event;
    isPinged = false;
    return { event: 'ping', data: {} };
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
    change(topic) {
      topics.add(topic);
      stir();
    },
    stage(change) {
      stage.add(change);
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
