import type { Ai } from './ai.ts';

/** The same client while what is behind it is exchanged. */
export interface SwitchedAi extends Ai {
  switchTo: (next: Ai) => void;
}

/** Longer than any run takes: answers under way end on the connections that they began on. */
const RETIRED_MS = 30 * 60_000;

export function createSwitchedAi(first: Ai, onError: (error: unknown) => void): SwitchedAi {
  let current = first;
  const retired = new Map<Ai, NodeJS.Timeout>();
  return {
    chat: (...args) => current.chat(...args),
    stream: (...args) => current.stream(...args),
    batches: (...args) => current.batches(...args),
    embed: (...args) => current.embed(...args),
    count: (...args) => current.count(...args),
    serves: (model) => current.serves(model),
    select: (...args) => current.select(...args),
    models: (...args) => current.models(...args),
    health: () => current.health(),
    switchTo(next) {
      const before = current;
      current = next;
      const end = (): void => {
        retired.delete(before);
        before.close().catch(onError);
      };
      retired.set(before, setTimeout(end, RETIRED_MS).unref());
    },
    async close() {
      for (const timer of retired.values()) clearTimeout(timer);
      await Promise.all([current, ...retired.keys()].map((one) => one.close()));
    },
  };
}
